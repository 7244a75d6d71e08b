import { createHmac } from 'node:crypto'

/** As the carrier signs: HMAC-SHA1 over the address and the sorted fields. */
export function sign(url: string, form: Record<string, string>, token: string): string {
  const fields = Object.keys(form)
    .sort()
    .map((name) => `${name}${form[name]}`)
  return createHmac('sha1', token)
    .update(url + fields.join(''))
    .digest('base64')
}
