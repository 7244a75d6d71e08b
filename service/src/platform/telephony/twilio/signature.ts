import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { secretsEqual } from '../../../kernel/seal.ts'
import type { SignedRequest } from '../port.ts'

/** Two names of one signature: the provider's own, and the neutral one of our interface. */
const HEADERS = ['x-twilio-signature', 'x-provider-signature']

/** Names the key and the hash, `key=…,algorithm=HMAC_SHA256`, where an account has requests signed by a key in place of its token. */
const SETTINGS_HEADER = 'x-twilio-webhooks-signature-settings'
const ALGORITHM = /(?:^|,)\s*algorithm\s*=\s*(\w+)/

/** What a signature by each of its hashes looks like in base64. */
const SHA1 = { hash: 'sha1', form: /^[A-Za-z0-9+/]{27}=$/ }
const METHODS: Readonly<Record<string, Method>> = {
  HMAC_SHA1: SHA1,
  HMAC_SHA256: { hash: 'sha256', form: /^[A-Za-z0-9+/]{43}=$/ },
}
type Method = { hash: string; form: RegExp }

const DEFAULT_PORTS: Record<string, string> = { 'https:': '443', 'wss:': '443', 'http:': '80', 'ws:': '80' }

/**
 * Whether one of `authTokens` signed the request: HMAC-SHA1, or what its settings name, over the address and the form's fields, in
 * the order of their names. A JSON body is signed by its hash in the query, `bodySHA256`.
 *
 * The carrier's servers sign the address with and without the port, and older ones leave `'` unescaped as `%27`: each of
 * these is tried. A missing, empty or doubled header is false. Constant time for a given request.
 */
export function isSigned(request: SignedRequest, authTokens: string[], body?: Buffer): boolean {
  const signature = signatureOf(request.headers)
  const method = methodOf(request.headers)
  if (signature === null || method === null) return false
  const fields = fieldText(request.form ?? [])
  let isGenuine = false
  for (const url of spellings(request.url)) {
    for (const token of authTokens) {
      // Every pair is compared, so that the time does not tell which one matched.
      if (secretsEqual(sign(method, token, url + fields), signature)) isGenuine = true
    }
  }
  return isGenuine && isBodyGenuine(request.url, body)
}

/** Whether a request comes with a signature, however many and whatever it is worth. */
export function hasSignature(headers: SignedRequest['headers']): boolean {
  return HEADERS.some((name) => headers[name] !== undefined)
}

/** Whether it comes with one that may be right for some token: anything else is no carrier's, whoever has an account here. */
export function mayBeSigned(headers: SignedRequest['headers']): boolean {
  const signature = signatureOf(headers)
  return signature !== null && methodOf(headers)?.form.test(signature) === true
}

function sign({ hash }: Method, token: string, text: string): string {
  return createHmac(hash, token).update(text, 'utf8').digest('base64')
}

function signatureOf(headers: SignedRequest['headers']): string | null {
  const given = HEADERS.map((name) => headers[name]).filter((value) => value !== undefined)
  const [signature] = given
  const isOne = given.length === 1 && typeof signature === 'string' && signature !== '' && !signature.includes(',')
  return isOne ? signature : null
}

/** Null for a hash that nobody here knows. */
function methodOf(headers: SignedRequest['headers']): Method | null {
  const settings = headers[SETTINGS_HEADER]
  const [, algorithm] = ALGORITHM.exec(String(settings ?? '')) ?? []
  if (algorithm === undefined) return SHA1
  return Object.hasOwn(METHODS, algorithm) ? (METHODS[algorithm] ?? null) : null
}

/** Names in byte order; of a name that comes several times each different value once, in order. */
function fieldText(form: [name: string, value: string][]): string {
  const byName = new Map<string, Set<string>>()
  for (const [name, value] of form) byName.set(name, (byName.get(name) ?? new Set()).add(value))
  const names = [...byName.keys()].sort(inByteOrder)
  return names
    .map((name) =>
      [...(byName.get(name) ?? [])]
        .sort(inByteOrder)
        .map((value) => name + value)
        .join(''),
    )
    .join('')
}

function inByteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Parted as text, because a URL object would change what was signed: an empty path, an escape. */
const PARTS = /^(?<scheme>[a-z]+:)(?<host>\/\/(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:]*))(?::(?<port>\d+))?(?<rest>.*)$/s

/** The address as the carrier may have written it when it signed. */
function spellings(url: string): Set<string> {
  const { scheme = '', host = '', port, rest = '' } = PARTS.exec(url)?.groups ?? {}
  const ported = [`${scheme}${host}${rest}`, `${scheme}${host}:${port ?? DEFAULT_PORTS[scheme]}${rest}`]
  return new Set([...ported, ...ported.map(legacyQuery)])
}

function legacyQuery(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? url : url.slice(0, at) + url.slice(at).replaceAll("'", '%27')
}

function isBodyGenuine(url: string, body: Buffer | undefined): boolean {
  const expected = URL.canParse(url) ? new URL(url).searchParams.get('bodySHA256') : null
  if (expected === null) return true
  if (body === undefined) return false
  const hash = createHash('sha256').update(body).digest()
  const given = Buffer.from(expected, 'hex')
  return given.length === hash.length && timingSafeEqual(given, hash)
}
