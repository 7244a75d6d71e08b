/** What a text would do if it were taken for HTML, an attribute, an address, a style, a template or a direction. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(2)</script>',
  "';alert(3)//",
  '<svg/onload=alert(4)>',
  'javascript:alert(5)',
  '{{constructor.constructor("alert(6)")()}}',
  '<style>*{display:none}</style>',
  '\u202Eevil',
].join(' ')
