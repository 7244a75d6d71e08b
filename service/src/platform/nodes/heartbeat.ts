import { type Cancel, type Clock, withTimeout } from '../../kernel/clock.ts'
import type { NodeId } from '../../kernel/ids.ts'
import type { SharedClock } from '../../kernel/shared-clock.ts'
import type { Db } from '../db/schema.ts'
import type { Log } from '../log.ts'
import { beat, pruneNodes, removeNode } from './heartbeat-store.ts'
import type { SteadyBeats } from './steady-beats.ts'

const BEAT_INTERVAL_MS = 1_000
const PRUNE_INTERVAL_MS = 3_600_000
/** A node that was silent for so long will not come back for what it left. */
const FORGET_AFTER_MS = 86_400_000
/** A database that does not answer must not hold up the end of the process; others see soon enough that this node is gone. */
const CLOSE_TIMEOUT_MS = 1_000

type HeartbeatDeps = {
  db: Db
  /** Rejects while the disk of the database is full: a beat is written over the one before, and takes no room. */
  expectRoom: () => Promise<void>
  clock: Clock
  nodeId: NodeId
  version: string
  log: Pick<Log, 'info' | 'warn'>
  /** Told of each beat that was written, and why one was not. */
  beats: Pick<SteadyBeats, 'written' | 'refused' | 'beginAnew' | 'room'>
  /** Goes by the database's clock from the first beat on. */
  sharedClock?: SharedClock | undefined
}

/** What the starter of a heartbeat holds. */
export type Heartbeat = {
  /**
   * Stops, waits for a write on its way and takes the node off the list, for a second at most. Never throws; again, it
   * changes nothing.
   */
  close(): Promise<void>
}

/**
 * Writes each second that this node is alive, and each hour forgets nodes that were silent for a day.
 *
 * A write that is still on its way when the next is due makes that one drop out. A database that is away is said once in
 * the log, and once that it is back.
 */
export function startHeartbeat(deps: HeartbeatDeps): Heartbeat {
  const pulse = new Pulse(deps)
  pulse.start()
  return pulse
}

/** Has the clock of this node go by what that of the database said, and says so where it was off. @returns whether it was. */
export function setClock(
  sharedClock: Pick<SharedClock, 'heard'>,
  { saidMs, askedMs }: { saidMs: number; askedMs: number },
  log: Pick<Log, 'warn'>,
): boolean {
  const forwardMs = sharedClock.heard(saidMs, askedMs)
  if (forwardMs !== 0) log.warn({ forward_ms: forwardMs }, "the clock of this node was set by the database's")
  return forwardMs !== 0
}

class Pulse implements Heartbeat {
  readonly #deps: HeartbeatDeps
  #timers: Cancel[] = []
  #writing: Promise<void> | null = null
  #isLooking = false
  #prune = true
  #failing = false
  #closing: Promise<void> | null = null

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
  }

  start(): void {
    const { clock } = this.#deps
    const askForPrune = () => {
      this.#prune = true
    }
    this.#timers = [
      clock.every(PRUNE_INTERVAL_MS, askForPrune),
      clock.every(BEAT_INTERVAL_MS, () => this.#writeUnlessWriting()),
    ]
    this.#writeUnlessWriting()
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop()
    return this.#closing
  }

  async #stop(): Promise<void> {
    for (const cancel of this.#timers) cancel()
    const { clock, db, nodeId } = this.#deps
    const leave = async () => {
      await this.#writing
      await removeNode(db, nodeId)
    }
    await this.#guarded(() => withTimeout(clock, leave(), CLOSE_TIMEOUT_MS, () => new Error('the database is silent')))
  }

  #writeUnlessWriting(): void {
    this.#writing ??= this.#guarded(() => this.#write()).finally(() => {
      this.#writing = null
    })
  }

  async #write(): Promise<void> {
    const { db, clock, log, nodeId, version, beats, sharedClock } = this.#deps
    const askedMs = clock.monotonicMs()
    const at = await beat(db, nodeId, version).catch((err: unknown) => {
      beats.refused(err)
      throw err
    })
    beats.written()
    this.#lookForRoom()
    if (sharedClock && setClock(sharedClock, { saidMs: at.getTime(), askedMs }, log)) beats.beginAnew()
    if (!this.#prune) return
    await pruneNodes(db, FORGET_AFTER_MS)
    this.#prune = false
  }

  /** Beside the beats: one that is late has others take this node for dead. */
  #lookForRoom(): void {
    const { expectRoom, beats } = this.#deps
    if (this.#isLooking) return
    this.#isLooking = true
    void expectRoom()
      .then(
        () => beats.room(true),
        () => beats.room(false),
      )
      .finally(() => {
        this.#isLooking = false
      })
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      if (this.#failing) this.#deps.log.info('the heartbeat is written again')
      this.#failing = false
    } catch (err) {
      if (!this.#failing) this.#deps.log.warn({ err }, 'the heartbeat cannot be written')
      this.#failing = true
    }
  }
}
