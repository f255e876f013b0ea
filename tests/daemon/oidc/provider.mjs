// An OpenID Connect provider that gives each client a signed token with the client's groups, and signs people in to pages:
//   node provider.mjs PORT ALGORITHM KEY_ID [REDIRECT_URL...]
// The module is looked for in NODE_MODULES. Every password is right; people are those of GROUPS.
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [port, algorithm, kid, ...redirects] = process.argv.slice(2);
const require = createRequire(process.env.NODE_MODULES + '/package.json');
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);
const { privateKey } = algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
const GROUPS = { mia: ['shop-members'], olga: ['shop-leads'], sre: ['sre'], eve: ['unknown'] };
const resource = (ctx, indicator) => ({
  scope: '', audience: indicator.replace('urn:', ''), accessTokenFormat: 'jwt', accessTokenTTL: ctx.oidc.client.clientId === 'sre' ? 1 : 600, jwt: { sign: { alg: algorithm } },
});
const machine = (id) => ({ client_id: id, client_secret: `secret-of-${id}`, grant_types: ['client_credentials'], id_token_signed_response_alg: algorithm, redirect_uris: [], response_types: [] });
const page = (id, more) => ({ client_id: id, grant_types: ['authorization_code'], response_types: ['code'], id_token_signed_response_alg: algorithm, redirect_uris: redirects, ...more });
const pages = redirects.length === 0 ? [] : [
  page('pages', { client_secret: 'secret of pages: %&+', token_endpoint_auth_method: 'client_secret_basic' }),
  page('public', { token_endpoint_auth_method: 'none' }),
];
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [...Object.keys(GROUPS).map(machine), ...pages],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: redirects.length > 0 }, resourceIndicators: { enabled: true, getResourceServerInfo: resource, useGrantedResource: () => true } },
  extraTokenClaims: (ctx, token) => ({ groups: GROUPS[token.clientId] }),
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }] },
  pkce: { methods: ['S256'], required: () => true },
  claims: { openid: ['sub', 'groups'] },
  conformIdTokenClaims: false,
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, groups: GROUPS[id] ?? [] }) }),
  // No page asks for a consent.
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
    grant.addOIDCScope('openid');
    await grant.save();
    return grant;
  },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
