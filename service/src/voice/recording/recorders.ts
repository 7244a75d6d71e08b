import { type Clock, withTimeout } from '../../kernel/clock.ts'
import { SaidOnce } from '../../platform/db/said-once.ts'
import type { Log } from '../../platform/log.ts'
import type { SessionId } from '../../records/call-values.ts'
import { isDatabaseTrouble } from '../../records/database-trouble.ts'
import { pathOfPart, type RecordingFiles } from '../../records/recording-files.ts'
import type { RecordingPart, Recordings } from '../../records/recordings.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { PartFile } from './part-file.ts'
import { CallRecorder } from './recorder.ts'

/** The stream of a call that may be recorded; `before`: what an earlier one has left, null or not given for the first. */
export type RecordableCall = {
  tenant: TenantRuntime
  callSid: string
  sessionId: SessionId
  epoch: number
  /** When its carrier's `start` came, monotonic; not given: when the recorder is made. */
  streamAtMs?: number
  before?: { isRecordingPaused: boolean } | null
}

/** Makes the recorders of calls. */
export type Recorders = {
  /** Null when the tenant's calls are not recorded. Whoever asked closes it. */
  of(call: RecordableCall): CallRecorder | null
  /** Ends what nodes that are gone left behind: at once, and every ten seconds. */
  watchOrphans(): void
  /** Closes every recorder, and resolves when what they have is written down, or was given up after some seconds. */
  close(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Pick<Log, 'warn' | 'error'>
  files: Pick<RecordingFiles, 'create'>
  recordings: Pick<Recordings, 'begin' | 'end' | 'endOrphans'>
}

/** Where nothing is kept nothing is recorded. */
export const NO_RECORDERS: Recorders = { of: () => null, watchOrphans() {}, close: async () => {} }

const ORPHANS_EVERY_MS = 10_000
const RETRY_MS = 1_000
const CLOSE_WITHIN_MS = 4_000
const NOT_LOOKED_FOR = 'recordings of nodes that are gone were not looked for'

export function makeRecorders({ clock, log, files, recordings }: Deps): Recorders {
  const open = new Set<CallRecorder>()
  let isClosing = false
  let stopWatching = () => {}
  let looking: Promise<void> = Promise.resolve()
  let isLooking = false
  const said = new SaidOnce()

  /** While the database is away this waits; what cannot be written down is ended by the node that comes after this one. */
  async function endPart(part: RecordingPart, frames: number): Promise<void> {
    for (;;) {
      try {
        return await recordings.end(part, frames)
      } catch (err) {
        if (isClosing || !isDatabaseTrouble(err)) {
          log.error({ err, call_sid: part.callSid }, 'the end of a recording was not written down')
          return
        }
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve))
      }
    }
  }

  function recorderOf({ tenant, callSid, sessionId, epoch, streamAtMs, before }: RecordableCall): CallRecorder {
    const partFrom = (startedAt: Date) => ({ tenant, callSid, sessionId, part: epoch, startedAt })
    const fields = { tenant_id: tenant.tenant_id, call_sid: callSid }
    let begun: Promise<void> = Promise.resolve()
    const recorder: CallRecorder = new CallRecorder({
      clock,
      ...(streamAtMs !== undefined && { startMs: streamAtMs }),
      isPaused: before?.isRecordingPaused ?? false,
      async open(startedAt) {
        const file = new PartFile(await files.create(pathOfPart(tenant.tenant_id, sessionId, epoch)))
        // The audio does not wait for the database; what it could not take now, it is told at the end.
        begun = recordings
          .begin(partFrom(startedAt))
          .catch((err: unknown) => log.warn({ ...fields, err }, 'the beginning of a recording was not written down'))
        return file
      },
      async ended(startedAt, frames) {
        await begun
        await endPart(partFrom(startedAt), frames)
        open.delete(recorder)
      },
      trouble: (err) => log.error({ ...fields, err }, 'a recording loses audio'),
    })
    open.add(recorder)
    return recorder
  }

  /** One at a time: a folder that hangs would take all the threads that files are read by. */
  function look(): void {
    if (isLooking) return
    isLooking = true
    looking = recordings
      .endOrphans()
      .then(
        () => said.done(),
        (err: unknown) => said.failed(err, () => log.warn({ err }, NOT_LOOKED_FOR)),
      )
      .finally(() => {
        isLooking = false
      })
  }

  return {
    of: (call) => (call.tenant.compliance.record_calls ? recorderOf(call) : null),
    watchOrphans() {
      look()
      stopWatching = clock.every(ORPHANS_EVERY_MS, look)
    },
    async close() {
      isClosing = true
      stopWatching()
      const over = Promise.all([looking, ...[...open].map((recorder) => recorder.close())])
      const late = () => new Error('recordings are still being written')
      await withTimeout(clock, over, CLOSE_WITHIN_MS, late).catch((err: unknown) =>
        log.warn({ err }, 'recordings were given up'),
      )
    },
  }
}
