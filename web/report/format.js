
// Numbers, amounts and times as people read them. Every figure leaves here with its unit.
const NBSP = '\u00a0';
const MINUS = '\u2212';
const DAY_S = 86400;

function group(text) {
  const [whole, rest] = text.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? grouped : grouped + '.' + rest;
}

function fixed(value, decimals) {
  const text = group(Math.abs(value).toFixed(decimals));
  return value < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

// Three significant digits, never scientific.
function significant(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : size >= 0.00995 ? 3 : 4);
}

// On an axis: as short as it is exact ("1.50" is "1.5").
function tickNumber(value) {
  return significant(value).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

function percentTick(share) {
  return tickNumber(share * 100) + NBSP + '%';
}

function count(value) {
  return fixed(value, 0);
}

function percent(share, decimals) {
  if (share === null || !Number.isFinite(share)) return '–';
  const value = share * 100;
  const size = Math.abs(value);
  const places = decimals ?? (size === 0 || size >= 9.95 ? 0 : size >= 0.095 ? 1 : 2);
  return fixed(value, places) + NBSP + '%';
}

function bytes(gib) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = gib;
  let unit = 3;
  while (unit < 5 && Math.abs(value) >= 999.5) { value /= 1024; ++unit; }
  while (unit > 0 && value !== 0 && Math.abs(value) < 0.9995) { value *= 1024; --unit; }
  return significant(value) + NBSP + units[unit];
}

function cores(value) {
  if (value !== 0 && Math.abs(value) < 0.0995) return fixed(value * 1000, 0) + NBSP + 'mcores';
  return significant(value) + NBSP + (Math.abs(value) === 1 ? 'core' : 'cores');
}

// `value` in the report's units: GiB or cores.
function amount(resource, value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return resource === 'memory' ? bytes(value) : cores(value);
}

function amountShort(resource, value) {
  const [number, unit] = amount(resource, value).split(NBSP);
  return (number.includes('.') ? number.replace(/0+$/, '').replace(/\.$/, '') : number) + NBSP + unit;
}

function duration(seconds) {
  for (const [size, name] of [[DAY_S, 'days'], [3600, 'h'], [60, 'min']]) {
    if (seconds >= size) return significant(seconds / size).replace(/\.0+$/, '') + NBSP + name;
  }
  return significant(seconds) + NBSP + 's';
}

// Figures of a reason keep the unit they were given in.
function withUnit(value, unit) {
  if (typeof value === 'string') return unit ? value + NBSP + unit : value;
  if (value === null) return '–';
  if (unit === 'bytes') return bytes(value / 2 ** 30);
  if (unit === 'cores') return cores(value);
  if (unit === 'byte-days' || unit === 'core-days') return withUnit(value, unit.replace('-day', '')) + ' × days';
  if (unit === 's' || unit === 'seconds') return duration(value);
  const text = Number.isInteger(value) ? count(value) : significant(value);
  return unit ? text + NBSP + unit : text;
}

function two(number) {
  return String(number).padStart(2, '0');
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function dayName(day, short = false) {
  if (!report.unix) return 'day' + NBSP + day;
  const date = new Date(day * DAY_S * 1000);
  const text = date.getUTCDate() + NBSP + MONTHS[date.getUTCMonth()];
  return short ? text : text + NBSP + date.getUTCFullYear();
}

function timeName(seconds) {
  const day = Math.floor(seconds / DAY_S);
  const within = seconds - day * DAY_S;
  return `${dayName(day)}, ${two(Math.floor(within / 3600))}:${two(Math.floor(within / 60) % 60)}`;
}
