import type { Clock } from '../../kernel/clock.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { RecordingFiles } from '../../records/recording-files.ts'
import {
  type ErasedUntil,
  forgetErasedRecordingsAcrossTenants,
  listErasedRecordingsAcrossTenants,
} from './erase-store.ts'

export type ErasedAudioDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  files: Pick<RecordingFiles, 'remove'>
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
  /** Of how many sessions the files are removed in one go, a hundred of which a run does; fewer for tests. */
  recordingsAtATime?: number
}

const RECORDINGS_AT_A_TIME = 1_000
const PAGES_AT_A_TIME = 100
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Longer than a node is away, and comes back with its disk. */
const NOTED_FOR_MS = 90 * 86_400_000
/** Whoever was still writing the end of a recording when it was erased has written it by then. */
const LOOK_AGAIN_MS = 3_600_000

/** What deletes the files of erased sessions that this process can reach, whichever node erased them, as far as one run comes. */
export function makeErasedAudio(deps: ErasedAudioDeps): () => Promise<void> {
  const { db, clock, log, files, isStopping, recordingsAtATime = RECORDINGS_AT_A_TIME } = deps
  /** What was noted before was looked at an hour after it was; a process starts with all that is noted. */
  let doneBefore = new Date(0)
  /** A walk through what is noted that has not come to its end: the next run goes on with it. */
  let walk: { begunMs: number; until: ErasedUntil } | null = null

  /** @returns up to where, and whether there may be more. */
  async function removeSome(since: ErasedUntil): Promise<{ until: ErasedUntil; isMore: boolean }> {
    const erased = await listErasedRecordingsAcrossTenants(db, since, recordingsAtATime)
    let until = since
    for (const { tenant_id, session_id, erased_at } of erased) {
      if (isStopping()) return { until, isMore: false }
      // What cannot be removed now is tried again within the hour, and keeps nothing else.
      await files.remove(tenant_id, session_id).catch((err: unknown) => {
        log.error({ err, tenant_id, voice_session_id: session_id }, 'the files of an erased session were not removed')
      })
      until = { at: erased_at, id: session_id }
    }
    return { until, isMore: erased.length === recordingsAtATime }
  }

  return async () => {
    walk ??= { begunMs: clock.now(), until: { at: doneBefore, id: FIRST_ID } }
    let isMore = true
    for (let page = 0; isMore && page < PAGES_AT_A_TIME; page += 1) {
      const some = await removeSome(walk.until)
      walk.until = some.until
      isMore = some.isMore
    }
    if (!isMore) {
      doneBefore = new Date(walk.begunMs - LOOK_AGAIN_MS)
      walk = null
    }
    await forgetErasedRecordingsAcrossTenants(db, new Date(clock.now() - NOTED_FOR_MS))
  }
}
