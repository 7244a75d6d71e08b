import type { FastifyReply, FastifyRequest } from 'fastify'

/** The value of a cookie that has this form, or null. Of several the first counts, as in RFC 6265's order. */
export function readCookie({ headers }: FastifyRequest, name: string, form: RegExp): string | null {
  for (const part of (headers.cookie ?? '').split(';')) {
    const text = part.trim()
    if (!text.startsWith(`${name}=`)) continue
    const value = text.slice(name.length + 1)
    if (form.test(value)) return value
  }
  return null
}

type Cookie = {
  name: string
  /** Null takes it away. */
  value: string | null
  /** Below this it is sent. */
  path: string
  maxAgeSeconds: number
}

/**
 * Sets a cookie that no script reads. Lax, so that a link from elsewhere finds its reader logged in; Secure when browsers reach
 * this service at an https `origin`.
 */
export function setCookie(reply: FastifyReply, origin: string, { name, value, path, maxAgeSeconds }: Cookie): void {
  const lifetime = value === null ? 0 : maxAgeSeconds
  const flags = `Path=${path}; Max-Age=${lifetime}; HttpOnly; SameSite=Lax${origin.startsWith('https:') ? '; Secure' : ''}`
  // Fastify keeps several of this header.
  reply.header('set-cookie', `${name}=${value ?? ''}; ${flags}`)
}
