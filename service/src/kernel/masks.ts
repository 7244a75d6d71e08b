/** Shows the last four digits of a number and hides the rest: `+14155550100` is `+*******0100`. */
export function maskPhone(number: string): string {
  return number.replace(/\d(?=(?:\D*\d){4})/g, '*')
}

/** Hides what stands behind the path of an address: whoever chose the address may have put a secret behind its question mark. */
export function withoutQuery(url: string): string {
  const at = url.search(/[?#]/)
  return at < 0 ? url : `${url.slice(0, at)}?***`
}

/**
 * Phone numbers in running text: E.164, also URL-encoded and written with spaces, dashes or brackets, and the usual form of
 * North America without its `+1`. Seven digits at least, so that `+1` or a time zone stays as it is.
 */
const PHONES_IN_TEXT = [
  /(?:\+|(?<=%2B))[1-9](?:[\s().-]{0,2}\d){6,}/gi,
  /(?<!\d)\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\d)/g,
]

/** Our own credentials and the usual carriers of others', wherever they stand in a text. */
const CREDENTIALS_IN_TEXT: [pattern: RegExp, replacement: string][] = [
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g, '***'],
  [/pk_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}/g, 'pk_***'],
  [/ak_[A-Za-z0-9_-]{43}/g, 'ak_***'],
  [/whsec_[A-Za-z0-9+/=_-]{8,}/g, 'whsec_***'],
  [/\bsk([-_])[A-Za-z0-9_-]{8,}/g, 'sk$1***'],
  // Only where a run of its characters begins: begun anew at each `eyJ` in a run, the search would grow with its square.
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, 'eyJ***'],
  // 32 hex digits alone are how carriers write their tokens; with letters before them they are an identifier.
  [/(?<![\w-])[0-9a-f]{32}(?![\w-])/g, '***'],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 ***'],
  [/(:\/\/[^\s:/@"]*:)[^\s/"]+@/g, '$1***@'],
  [/((?:^|[?&\s])[\w-]*(?:token|key|secret|password|signature)=)[^&\s"]+/gi, '$1***'],
  [/("[\w-]*(?:token|secret|password|key)"\s{0,4}:\s{0,4}")[^"]+/gi, '$1***'],
  [/(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@(?=[A-Za-z0-9-]{1,63}\.[A-Za-z])/g, '***@'],
]

/**
 * Takes phone numbers, e-mail names and credentials out of a text that is about to be logged.
 *
 * The last line of defence: what is secret must not reach a log line in the first place.
 */
export function scrub(text: string): string {
  let clean = text
  for (const pattern of PHONES_IN_TEXT) clean = clean.replace(pattern, maskPhone)
  for (const [pattern, replacement] of CREDENTIALS_IN_TEXT) clean = clean.replace(pattern, replacement)
  return clean
}
