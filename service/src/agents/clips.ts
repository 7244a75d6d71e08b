import { type Clock, withDeadline, withTimeout } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { type Speech, SpeechFault } from '../platform/speech/port.ts'
import type { CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { type ClipAudio, ClipCache } from './clip-cache.ts'
import { ClipQueue } from './clip-queue.ts'
import { deleteOldClips, findClips, insertClip, touchClips } from './clip-store.ts'
import { type ClipWords, holdClip, isFirstWords, type Speaker, type WantedClip, wantedClips } from './clip-words.ts'
import type { FetchHoldAudio } from './hold-audio.ts'

/** Words that were spoken ahead of the call. */
export type Clip = ClipWords & ClipAudio

/** What agents always say in the same words, spoken once and kept: their callers hear it whatever a model takes. */
export type Clips = {
  /**
   * Those of an agent's clips that are there: its first words in the order in which they are heard, never one without those before it,
   * then the others. What is missing is made for the next call. Takes 250 ms at most, and never rejects.
   */
  of(tenant: TenantRuntime, config: CompleteAgentConfig): Promise<readonly Clip[]>
  /** Has those made that there are not yet, were they refused before or not, and does not wait for them. Never throws. */
  prepare(tenantId: TenantId, config: CompleteAgentConfig): void
  /**
   * Has what callers on hold hear at hand for all calls to come.
   *
   * @throws SpeechFault with the end of a sentence about the address, when nothing usable is there.
   */
  keepHoldAudio(tenantId: TenantId, url: string): Promise<void>
  /** Makes none any more; resolves when nothing is under way. */
  close(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  /** The model's own voice. Null where there is none: no words are spoken in it ahead then. */
  speech: Speech | null
  /** What speaks in the calls of a tenant that asks for another voice; null, or not given, where that is the model's own. */
  secondSpeech?: (tenant: TenantRuntime) => Speech | null
  fetchHoldAudio: FetchHoldAudio
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  /** The greeting says so, too. */
  isRehearsal: boolean
}

/** A caller is waiting: the model says what the database does not tell by then. */
const LOAD_WITHIN_MS = 250
const SPEAK_WITHIN_MS = 30_000
/** A clip that could not be made is not asked for again for so long; one that nobody will make costs its attempts. */
const PAUSE_MS = 30_000
/** Words that are spoken ahead: some hundred versions' first words of one tenant wait at most. */
const MAKING = { running: 8, runningOfTenant: 6, waitingOfTenant: 500 }
/**
 * Files for callers on hold, apart from the words: a slow server of one tenant keeps nobody's greeting waiting. Each takes tens of megabytes
 * until it is read.
 */
const FETCHING_LATER = { running: 3, runningOfTenant: 1, waitingOfTenant: 50 }
/** Such files of versions that are being published, at once. */
const MAX_FETCHING = 4
const LASTING_PAUSE_MS = 24 * 3_600_000
const MAX_PAUSED = 1_000
/** Of a tenant: more than its agents say at a time. Those that calls had last are kept. */
const MAX_KEPT = 2_000
/** That a clip was used is written down once in so long. */
const TOUCHED_EVERY_MS = 24 * 3_600_000

export function makeClips(deps: Deps): Clips {
  return new KeptClips(deps)
}

class KeptClips implements Clips {
  readonly #deps: Deps
  readonly #cache = new ClipCache()
  readonly #making = new ClipQueue(MAKING)
  readonly #fetchingLater = new ClipQueue(FETCHING_LATER)
  readonly #pending = new Set<Promise<void>>()
  readonly #fetching = new Map<string, Promise<void>>()
  readonly #pausedUntilMs = new Map<string, number>()
  readonly #closing = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async of(tenant: TenantRuntime, config: CompleteAgentConfig): Promise<readonly Clip[]> {
    const wanted = this.#wanted(tenant, config)
    await this.#fill(tenant.tenant_id, wanted)
    this.#touch(tenant.tenant_id, wanted)
    const isMissing = ({ key }: WantedClip) => this.#cache.get(nameOf(tenant.tenant_id, key)) === null
    const missing = wanted.findIndex((clip) => isFirstWords(clip) && isMissing(clip))
    return wanted
      .filter((clip, index) => missing === -1 || index < missing || !isFirstWords(clip))
      .flatMap(({ kind, words, text, key }) => {
        const audio = this.#cache.get(nameOf(tenant.tenant_id, key))
        return audio ? [{ kind, words, text, ...audio }] : []
      })
  }

  prepare(tenantId: TenantId, config: CompleteAgentConfig): void {
    const { log, tenants } = this.#deps
    const work = async () => {
      const tenant = await tenants.get(tenantId)
      if (!tenant) return
      const missing = this.#missing(tenantId, this.#wanted(tenant, config))
      // Whoever publishes again may have mended what they were refused for.
      for (const { key } of missing) this.#pausedUntilMs.delete(nameOf(tenantId, key))
      // Nobody waits for it: what the database tells late is made all the same.
      await this.#load(tenantId, missing)
    }
    const failed = (err: unknown) => log.warn({ err, tenant_id: tenantId }, 'clips could not be prepared')
    this.#track(work().catch(failed))
  }

  async keepHoldAudio(tenantId: TenantId, url: string): Promise<void> {
    const clip = holdClip(url)
    const name = nameOf(tenantId, clip.key)
    const [kept] = await findClips(this.#deps.db, tenantId, [clip.key])
    if (kept) return
    if (!this.#fetching.has(name)) this.#expectRoom(tenantId)
    const fetching = this.#fetching.get(name) ?? this.#make(tenantId, clip).finally(() => this.#fetching.delete(name))
    this.#fetching.set(name, fetching)
    await fetching
  }

  /** @throws AppError `unavailable` while a file of the same tenant is fetched to be published, or as many as may be. */
  #expectRoom(tenantId: TenantId): void {
    const isOwn = [...this.#fetching.keys()].some((name) => name.startsWith(nameOf(tenantId, '')))
    if (!isOwn && this.#fetching.size < MAX_FETCHING) return
    const headers = { 'retry-after': '5' }
    throw new AppError('unavailable', 'Other files for callers on hold are being fetched: publish again in a moment.', {
      headers,
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#making.close(), this.#fetchingLater.close()])
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  #wanted(tenant: TenantRuntime, config: CompleteAgentConfig): WantedClip[] {
    return wantedClips({ tenant, config }, { by: this.#speakerOf(tenant, config), isRehearsal: this.#deps.isRehearsal })
  }

  #speakerOf(tenant: TenantRuntime, config: CompleteAgentConfig): Speaker | null {
    const { speech: own, secondSpeech } = this.#deps
    const second = secondSpeech?.(tenant) ?? null
    if (second) return { speech: second, voice: second.defaultVoice }
    return own && { speech: own, voice: config.voice || tenant.voice }
  }

  /** Has what is kept of these at hand, and what is not kept made. Never rejects. */
  async #fill(tenantId: TenantId, wanted: readonly WantedClip[]): Promise<void> {
    const { clock, log } = this.#deps
    const missing = this.#missing(tenantId, wanted)
    if (missing.length === 0) return
    const loading = this.#load(tenantId, missing)
    this.#track(loading.catch(() => undefined))
    try {
      await withTimeout(clock, loading, LOAD_WITHIN_MS, tooLate)
    } catch (err) {
      log.warn({ err, tenant_id: tenantId }, 'clips could not be read: the model says the words')
    }
  }

  #missing(tenantId: TenantId, wanted: readonly WantedClip[]): WantedClip[] {
    return wanted.filter(({ key }) => this.#cache.get(nameOf(tenantId, key)) === null)
  }

  /** Takes what is kept of these, whoever still waits for it, and has the others made. */
  async #load(tenantId: TenantId, clips: readonly WantedClip[]): Promise<void> {
    if (clips.length === 0) return
    const keys = clips.map(({ key }) => key)
    const found = await findClips(this.#deps.db, tenantId, keys)
    for (const { key, audio, usedAt } of found) this.#cache.put(nameOf(tenantId, key), audio, usedAt.getTime())
    for (const clip of clips) if (!found.some(({ key }) => key === clip.key)) this.#makeSoon(tenantId, clip)
  }

  #makeSoon(tenantId: TenantId, clip: WantedClip): void {
    const name = nameOf(tenantId, clip.key)
    if (this.#isPaused(name)) return
    const failed = (err: unknown) => {
      // Broken off by our own stop: nothing is wrong, and the next start makes it.
      if (this.#closing.signal.aborted) return
      this.#pause(name, err instanceof SpeechFault && err.isLasting ? LASTING_PAUSE_MS : PAUSE_MS)
      this.#deps.log.warn({ err, tenant_id: tenantId, kind: clip.kind }, 'a clip could not be made')
    }
    const queue = clip.speech ? this.#making : this.#fetchingLater
    queue.add(tenantId, name, () => this.#make(tenantId, clip).catch(failed))
  }

  /** Writes down that a call has these, without waiting for it: those that are used are kept. */
  #touch(tenantId: TenantId, wanted: readonly WantedClip[]): void {
    const { clock, db, log } = this.#deps
    const nowMs = clock.now()
    const sinceMs = nowMs - TOUCHED_EVERY_MS
    const keys = wanted
      .map(({ key }) => key)
      .filter((key) => this.#cache.isToTouch(nameOf(tenantId, key), { nowMs, sinceMs }))
    if (keys.length === 0) return
    const failed = (err: unknown) =>
      log.warn({ err, tenant_id: tenantId }, 'it could not be written down that clips are used')
    this.#track(touchClips(db, tenantId, { keys, at: new Date(nowMs), since: new Date(sinceMs) }).catch(failed))
  }

  async #make(tenantId: TenantId, { key, kind, ...clip }: WantedClip): Promise<void> {
    const { clock, db, log } = this.#deps
    const sound = (signal: AbortSignal) => this.#sound({ kind, ...clip }, signal)
    const audio = await withDeadline(clock, SPEAK_WITHIN_MS, sound, this.#closing.signal)
    const at = new Date(clock.now())
    this.#cache.put(nameOf(tenantId, key), audio, at.getTime())
    await insertClip(db, tenantId, { key, audio, at })
    await deleteOldClips(db, tenantId, MAX_KEPT)
    log.info({ tenant_id: tenantId, kind, size_bytes: audio.length }, 'a clip was made')
  }

  #sound({ words, text, speech, voice, speed }: Omit<WantedClip, 'key'>, signal: AbortSignal): Promise<Buffer> {
    return speech ? speech.speak({ text, voice, speed, signal }) : this.#deps.fetchHoldAudio(words, signal)
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.then(() => {
      this.#pending.delete(tracked)
    })
    this.#pending.add(tracked)
  }

  #isPaused(name: string): boolean {
    return this.#deps.clock.monotonicMs() < (this.#pausedUntilMs.get(name) ?? 0)
  }

  #pause(name: string, ms: number): void {
    this.#pausedUntilMs.delete(name)
    this.#pausedUntilMs.set(name, this.#deps.clock.monotonicMs() + ms)
    const [oldest] = this.#pausedUntilMs.keys()
    if (this.#pausedUntilMs.size > MAX_PAUSED && oldest !== undefined) this.#pausedUntilMs.delete(oldest)
  }
}

/** Clips are apart by tenants, also where they say the same. */
function nameOf(tenantId: TenantId, key: string): string {
  return `${tenantId} ${key}`
}

function tooLate(): Error {
  return new Error('the database did not answer in time')
}
