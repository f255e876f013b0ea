
// Making elements. Text only ever goes in as text nodes, so that no name can become markup.
const SVG = document.getElementById('knot').namespaceURI;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Marks round (0, 0), about 11 pixels: one shape a recommender, so that colour is never the only difference.
const SHAPES = {
  static: 'M-5-5H5V5H-5Z',
  peak: 'M0-6L6 5H-6Z',
  vpa: 'M0-6.5L6.5 0L0 6.5L-6.5 0Z',
  moving_window: 'M0 6L-6-5H6Z',
  ensemble: 'M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z',
  work_function: 'M-5 5V-1H0V-6H5V5Z',
  combined: 'M-6-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z',
  krr: 'M-6-1H-1V-6H1V-1H6V1H1V6H-1V1H-6Z',
  crane: 'M-6-5H6V-1H2V6H-2V-1H-6Z',
  analogs: 'M-5.5 0A5.5 5.5 0 1 0 5.5 0A5.5 5.5 0 1 0-5.5 0Z',
};

function shapeOf(policy) {
  return SHAPES[policy] || SHAPES.static;
}

function swatch(policy) {
  return svg('svg', { class: `swatch p-${policy}`, viewBox: '-7 -7 14 14', 'aria-hidden': 'true' },
    svg('path', { d: shapeOf(policy) }));
}

// A table from columns {head, unit, title, note, cell(row) -> node or text} and rows.
function headCell(column, number) {
  return el('th', { scope: 'col', title: column.title },
    // A head may break between words, not at the hyphen of "OOM-days".
    column.head.replaceAll('-', '\u2011'), number ? el('sup', {}, String(number)) : null,
    column.unit ? el('span', { class: 'unit' }, column.unit) : null);
}
