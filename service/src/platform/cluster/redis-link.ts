import type { Redis } from 'ioredis'
import { type Cancel, type Clock, withTimeout } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Log } from '../log.ts'
import { takeFrom } from './redis-take.ts'

type Deps = { url: string; clock: Clock; log: Pick<Log, 'info' | 'warn'> }
/** A write, as a count is, or a message to other nodes: Redis may take the one and refuse the other. */
type Kind = 'write' | 'message'
type Connections = { commands: Redis; subscriber: Redis }

const CONNECT_TIMEOUT_MS = 5_000
const MAX_RETRY_MS = 1_000
/** A connection can be dead without a word: it is asked this often, and cut when it does not answer in time. */
const PING_INTERVAL_MS = 1_000
const PING_TIMEOUT_MS = 2_000
const MAX_SILENT_PINGS = 3
/** What was refused works again when nothing of its kind was refused for so long: some pass while others are still refused. */
const WORKS_AGAIN_MS = 3_000
/**
 * Of each kind what is cheap and nobody reads, tried while the kind is refused. By the very commands that are needed: Redis may have
 * room, and its user the right, for others. The count is always let in, for what is let in no more writes nothing.
 */
const PROBES: Record<Kind, (redis: Redis) => Promise<unknown>> = {
  write: (redis) => takeFrom(redis, 'probe', Number.MAX_SAFE_INTEGER),
  message: (redis) => redis.publish('parley:bus:probe', ''),
}

const OPTIONS = {
  // What cannot be sent now is refused: who asks has something better to do than to wait for it.
  ...{ enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
  // After a loss every channel is subscribed to again by ourselves, so that it is known when that is done.
  autoResubscribe: false,
  ...{ protocol: 2 as const, lazyConnect: true, connectTimeout: CONNECT_TIMEOUT_MS, connectionName: 'parley' },
  retryStrategy: (tries: number) => Math.min(50 * 2 ** Math.min(tries, 10), MAX_RETRY_MS),
}

/** Opens the two connections to a Redis in the background; whether it is there shows in `isUp`. Never throws. */
export async function openRedis(deps: Deps): Promise<RedisLink> {
  // Only who has a Redis pays for loading it.
  const { Redis } = await import('ioredis')
  return new RedisLink({ commands: new Redis(deps.url, OPTIONS), subscriber: new Redis(deps.url, OPTIONS) }, deps)
}

/**
 * A Redis that may go away and come back: it connects again for ever, after a second at most, and subscribes again to what was
 * listened to. While it is away everything that is asked of it fails at once.
 */
export class RedisLink {
  readonly #connections: Connections
  readonly #deps: Omit<Deps, 'url'>
  readonly #listeners = new Map<string, Set<(text: string) => void>>()
  readonly #stopPings: Cancel
  /** How often a connection was looked at that was open and not yet ready. */
  readonly #silentPings = new WeakMap<Redis, number>()
  #hasSubscribed = false
  /** Null before the first connection came about or failed. */
  #wasUp: boolean | null = null
  #upSinceMs = 0
  /** What was told last of why it is away. */
  #reason = ''
  #isClosed = false
  #isLooking = false
  #isOther = false
  /** What Redis answered last to a write, and to a message, in place of taking it, until it works again. */
  readonly #refusals = new Map<Kind, { refusal: string; atMs: number }>()

  constructor(connections: Connections, { clock, log }: Omit<Deps, 'url'>) {
    this.#connections = connections
    this.#deps = { clock, log }
    const { commands, subscriber } = connections
    for (const redis of [commands, subscriber]) {
      redis.on('error', (error: Error) => (isOfSelect(error) ? this.#tellOther(error) : this.#tellFault(error)))
      redis.on('close', () => this.#tell('the connection was closed'))
      redis.on('ready', () => this.#tell())
      redis.connect().catch(() => {})
    }
    // What another connection was refused says nothing of this one.
    commands.on('ready', () => this.#refusals.clear())
    subscriber.on('ready', () => void this.#subscribeAll())
    subscriber.on('close', () => {
      this.#hasSubscribed = false
    })
    subscriber.on('message', (channel: string, text: string) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener(text)
    })
    this.#stopPings = clock.every(PING_INTERVAL_MS, () => void this.#pingAll())
  }

  /** Whether it can be talked to, and everything that is listened to is heard. */
  get isUp(): boolean {
    const { commands, subscriber } = this.#connections
    return !this.#isClosed && commands.status === 'ready' && subscriber.status === 'ready' && this.#hasSubscribed
  }

  /** Whether it does what it is told: it may be reached and refuse all that writes, as when its memory is full or it is a replica. */
  get doesWork(): boolean {
    return this.isUp && this.#refusals.size === 0
  }

  /** For how long it has been up without a break: for ever when it was never seen away, 0 while it is away. */
  get upForMs(): number {
    return this.isUp && this.#wasUp ? this.#deps.clock.monotonicMs() - this.#upSinceMs : 0
  }

  /** @throws AppError `unavailable`: at once while it is away, after `timeoutMs` when it does not answer. */
  async run<T>(command: (redis: Redis) => Promise<T>, timeoutMs: number, kind: Kind = 'write'): Promise<T> {
    if (!this.isUp) throw away()
    try {
      const answer = await withTimeout(this.#deps.clock, command(this.#connections.commands), timeoutMs, away)
      this.#tellTaken(kind)
      return answer
    } catch (error) {
      if (error instanceof Error && error.name === REFUSED_BY) this.#tellRefusal(kind, refusalIn(error.message))
      // What the library throws holds the command with all of its arguments.
      throw error instanceof AppError ? error : away((error as Error).message)
    }
  }

  listen(channel: string, listener: (text: string) => void): Cancel {
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners.add(listener))
    if (listeners.size === 1) this.#onSubscriber((redis) => redis.subscribe(channel))
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return
      this.#listeners.delete(channel)
      this.#onSubscriber((redis) => redis.unsubscribe(channel))
    }
  }

  /** Repeating it does nothing. */
  close(): void {
    this.#isClosed = true
    this.#stopPings()
    this.#connections.commands.disconnect()
    this.#connections.subscriber.disconnect()
  }

  /** What fails now is done again with all others when the connection is there again. */
  #onSubscriber(command: (redis: Redis) => Promise<unknown>): void {
    const { subscriber } = this.#connections
    if (subscriber.status === 'ready') command(subscriber).catch(() => {})
  }

  async #subscribeAll(): Promise<void> {
    const channels = [...this.#listeners.keys()]
    try {
      if (channels.length > 0) await this.#connections.subscriber.subscribe(...channels)
      this.#hasSubscribed = true
      this.#tell()
    } catch (error) {
      this.#tellFault(error as Error)
      this.#connections.subscriber.disconnect(true)
    }
  }

  async #pingAll(): Promise<void> {
    this.#tryRefused()
    const { commands, subscriber } = this.#connections
    await Promise.all([commands, subscriber].map((redis) => this.#ping(redis)))
  }

  async #ping(redis: Redis): Promise<void> {
    if (redis.status !== 'ready') return this.#hurry(redis)
    this.#silentPings.delete(redis)
    const answer = withTimeout(this.#deps.clock, redis.ping(), PING_TIMEOUT_MS, () => new Error('no answer'))
    await answer.catch(() => redis.disconnect(true))
  }

  /** What took the connection, and then says nothing, is no Redis: it is tried again. */
  #hurry(redis: Redis): void {
    const silentPings = redis.status === 'connect' ? (this.#silentPings.get(redis) ?? 0) + 1 : 0
    this.#silentPings.set(redis, silentPings)
    if (silentPings < MAX_SILENT_PINGS) return
    this.#silentPings.delete(redis)
    redis.disconnect(true)
  }

  /** Once for each kind of refusal. */
  #tellRefusal(kind: Kind, refusal: string): void {
    const isTold = this.#refusals.get(kind)?.refusal === refusal
    this.#refusals.set(kind, { refusal, atMs: this.#deps.clock.monotonicMs() })
    if (!isTold) this.#deps.log.warn({ kind, refusal }, 'redis refuses what it is told: this node works on without')
  }

  /** Once that nothing of the kind is refused any more. */
  #tellTaken(kind: Kind): void {
    const refused = this.#refusals.get(kind)
    if (refused === undefined || this.#deps.clock.monotonicMs() - refused.atMs < WORKS_AGAIN_MS) return
    this.#refusals.delete(kind)
    this.#deps.log.info({ kind }, 'redis does again what it is told')
  }

  /** Nobody may ask for the same again for hours. */
  #tryRefused(): void {
    for (const kind of this.#refusals.keys()) this.run(PROBES[kind], PING_TIMEOUT_MS, kind).catch(() => {})
    if (this.#refusals.get('write')?.refusal === REPLICA) void this.#findPrimary()
  }

  /** What was the primary may keep its connections when it is none any more: the address may lead to the next one by now. */
  async #findPrimary(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const { commands, subscriber } = this.#connections
    const sinceMs = this.#deps.clock.monotonicMs()
    const isFound = await takesOnNewConnection(commands, this.#deps.clock)
    this.#isLooking = false
    // What was the primary may be it again: then its connections are as good as before.
    const isStillRefused = (this.#refusals.get('write')?.atMs ?? Number.NEGATIVE_INFINITY) >= sinceMs
    if (isFound && isStillRefused && !this.#isClosed) for (const redis of [commands, subscriber]) redis.disconnect(true)
  }

  /** A connection that is not given the database of its address works, with the first one. Once: it is so for each connection. */
  #tellOther({ message }: Error): void {
    if (!this.#isOther)
      this.#deps.log.warn({ reason: message }, 'redis has no database of the number in REDIS_URL: 0 is used')
    this.#isOther = true
  }

  /** What Redis itself says of why it does not let us in is told behind the loss, too: once, until it says something else. */
  #tellFault({ name, message }: Error): void {
    const isNews = name === REFUSED_BY && message !== this.#reason
    if (this.#wasUp === false && isNews) this.#tellAway(message)
    else this.#tell(message)
  }

  #tellAway(reason: string): void {
    this.#reason = reason
    if (!this.#isClosed) this.#deps.log.warn({ reason }, 'redis is away')
  }

  /** Once for each change. */
  #tell(reason = 'no answer'): void {
    const { isUp } = this
    if (this.#isClosed || this.#wasUp === isUp) return
    // One of the two is there and the other one soon will be.
    if (this.#wasUp === null && !isUp && reason === 'no answer') return
    if (isUp) this.#upSinceMs = this.#wasUp === null ? Number.NEGATIVE_INFINITY : this.#deps.clock.monotonicMs()
    this.#wasUp = isUp
    if (isUp) this.#deps.log.info({}, 'redis is there')
    else this.#tellAway(reason)
  }
}

/** Whether a write is taken by whom the address leads to by now. */
async function takesOnNewConnection(redis: Redis, clock: Clock): Promise<boolean> {
  const other = redis.duplicate({ retryStrategy: null })
  // What breaks is told by the write.
  other.on('error', () => {})
  const taking = other.connect().then(() => PROBES.write(other))
  return withTimeout(clock, taking, CONNECT_TIMEOUT_MS, away)
    .then(
      () => true,
      () => false,
    )
    .finally(() => other.disconnect())
}

/** The kind of the error of a replica, which only its primary may change. */
const REPLICA = 'READONLY'

/** What `ioredis` calls the error that Redis itself answered with. */
const REFUSED_BY = 'ReplyError'

/** Whether it is the answer to the number of a database, which the address has named. */
function isOfSelect(error: Error & { command?: { name: string } }): boolean {
  return error.name === REFUSED_BY && error.command?.name === 'select'
}

/** The kind of the error (OOM, READONLY, NOPERM, MISCONF), or the command that is not known: the rest of it may hold what was asked. */
function refusalIn(message: string): string {
  const unknown = /\bunknown command '?`?(\w+)/.exec(message)?.[1]
  if (unknown !== undefined) return `unknown command ${unknown}`
  return (
    /\b(OOM|READONLY|NOPERM|MISCONF|NOREPLICAS|NOAUTH)\b/.exec(message)?.[1] ?? /^[A-Z]+/.exec(message)?.[0] ?? 'ERR'
  )
}

function away(detail?: string): AppError {
  return new AppError('unavailable', 'Redis does not answer. Try again.', detail === undefined ? {} : { detail })
}
