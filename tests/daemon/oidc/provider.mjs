// An OpenID Connect provider that gives each client a signed token with the client's groups: node provider.mjs PORT ALGORITHM
// KEY_ID. The module is looked for in NODE_MODULES.
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [port, algorithm, kid] = process.argv.slice(2);
const require = createRequire(process.env.NODE_MODULES + '/package.json');
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);
const { privateKey } = algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
const GROUPS = { mia: ['shop-members'], olga: ['shop-leads'], sre: ['sre'], eve: ['unknown'] };
const resource = (ctx, indicator) => ({
  scope: '', audience: indicator.replace('urn:', ''), accessTokenFormat: 'jwt', accessTokenTTL: ctx.oidc.client.clientId === 'sre' ? 1 : 600, jwt: { sign: { alg: algorithm } },
});
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: Object.keys(GROUPS).map((id) => ({ client_id: id, client_secret: `secret-of-${id}`, grant_types: ['client_credentials'], id_token_signed_response_alg: algorithm, redirect_uris: [], response_types: [] })),
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false }, resourceIndicators: { enabled: true, getResourceServerInfo: resource, useGrantedResource: () => true } },
  extraTokenClaims: (ctx, token) => ({ groups: GROUPS[token.clientId] }),
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }] },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
