const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/i
const MAX_LOCAL_CHARS = 64
const MAX_CHARS = 254

/** Whether mail can be sent there over the open net: one address, nothing around it, none of its characters quoted. */
export function isEmail(text: string): boolean {
  const [local = '', domain = '', ...others] = text.split('@')
  const fits = text.length <= MAX_CHARS && local.length <= MAX_LOCAL_CHARS
  return fits && others.length === 0 && LOCAL.test(local) && DOMAIN.test(domain)
}
