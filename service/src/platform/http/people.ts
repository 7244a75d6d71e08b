import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor, Role } from '../../kernel/actor.ts'
import { AppError } from '../../kernel/errors.ts'
import { readCookie, setCookie } from './cookies.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no database: whoever was let in lately is let in while that is away, so that calls can be stopped then. */
    isForAnyTime?: boolean
  }
}

/**
 * `address`: where a credential came from. `isLook`: it is asked for to see whether it is still good, which is no use of it. `mayStand`:
 * that it was good lately is enough while the database is away.
 */
export type Asking = { address: string; isLook: boolean; mayStand: boolean }

/** What is asked with the credential of a request. */
export function askingFor(request: FastifyRequest, isLook: boolean): Asking {
  return { address: request.ip, isLook, mayStand: request.routeOptions.config?.isForAnyTime === true }
}

/** Those who log in in a browser, as the guards know them. */
export type People = {
  /** Whether anybody can log in here at all. */
  isEnabled: boolean
  /**
   * Whose session it is; null when it is over, or was never one. A look is no use of it: it is over as if nobody had asked.
   *
   * @throws AppError `unavailable`; `rate_limited` for a session that is not known here, from an address whose questions are not put
   * to the database any more.
   */
  find(token: string, asking: Asking): Promise<Actor | null>
  /** Whether people of a tenant who have this role may do what the route does; no for a route that nobody thought of. */
  mayDo(role: Role, method: string, route: string): boolean
  /** The origin at which browsers reach this service. */
  origin(): string
}

/** Holds the session of a browser. */
const SESSION_COOKIE = 'parley_admin'

/** What a session is told by: 32 random bytes. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** The token of the session that the browser sent, or null. */
export function sessionTokenOf(request: FastifyRequest): string | null {
  return readCookie(request, SESSION_COOKIE, TOKEN)
}

/** Gives the browser its session, or takes it away: with a token of null. */
export function setSession(
  reply: FastifyReply,
  origin: string,
  { token, lifetimeMs }: { token: string | null; lifetimeMs: number },
): void {
  setCookie(reply, origin, { name: SESSION_COOKIE, value: token, path: '/', maxAgeSeconds: lifetimeMs / 1_000 })
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether requests of this method change nothing. */
export function isSafe(method: string): boolean {
  return SAFE.has(method)
}

/**
 * Who sent the session cookie; null without one, or when the session is over, which a look does not put off.
 *
 * @throws AppError `forbidden` when something is to be changed and the page that asks for it is not, or may not be, ours; and as `find`.
 */
export async function personOf(request: FastifyRequest, people: People, isLook: boolean): Promise<Actor | null> {
  const token = sessionTokenOf(request)
  if (token === null) return null
  if (!isSafe(request.method)) refuseForeignOrigin(request, people.origin())
  return people.find(token, askingFor(request, isLook))
}

/**
 * A browser says in `Origin` whose page asks. Nothing else tells a page of ours from one that uses the cookie behind the
 * person's back.
 *
 * @throws AppError `forbidden`, also when there is no `Origin`.
 */
export function refuseForeignOrigin(request: FastifyRequest, ownOrigin: string): void {
  const { origin } = request.headers
  if (origin === undefined) throw new AppError('forbidden', 'A change with a session cookie needs an Origin header.')
  // A browser does not let a page choose its Host: what has both alike came from here, whatever this machine is called. Behind
  // https there is one name, and another one that leads here is somebody else's.
  const isHere = !ownOrigin.startsWith('https:') && origin === `${request.protocol}://${request.host}`
  const isOurs = origin === ownOrigin || isHere
  if (!isOurs) throw new AppError('forbidden', 'The request comes from a page of another origin.')
}
