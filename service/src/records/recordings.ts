import { enqueue } from '../delivery/enqueue.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import { liveNodes } from '../platform/nodes/heartbeat-store.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { lockCall } from './call-directory-store.ts'
import type { SessionId } from './call-values.ts'
import { joined, type RecordedAudio, type StoredPart } from './recording-audio.ts'
import { isWhole, tellRecording } from './recording-events.ts'
import { pathOfPart, type RecordingFiles } from './recording-files.ts'
import {
  deleteParts,
  findPart,
  insertPart,
  listOrphansAcrossTenants,
  listParts,
  type OrphanRow,
  type RecordingRow,
  settlePart,
} from './recording-store.ts'
import { FRAMES_PER_MS, STORED_FRAME_BYTES, STORED_HEADER_BYTES } from './recording-wav.ts'
import { findVoiceSession, updateVoiceSession, type VoiceSessionRow } from './voice-session-store.ts'

/** One stream's part of a recording. */
export type RecordingPart = {
  tenant: TenantRuntime
  callSid: string
  sessionId: SessionId
  /** The epoch of the stream. */
  part: number
  /** When its first sample was heard. */
  startedAt: Date
}

/** What was recorded of calls. */
export type Recordings = {
  /** A part is being recorded from now on. Again, or after its end, it changes nothing. */
  begin(part: RecordingPart): Promise<void>
  /**
   * A part has so many frames and will not get more; with none it is lost. Where it was the last thing that its recording
   * waited for, the tenant is told in the same transaction. Again, it changes nothing, but that the node which recorded the
   * part may say that it is longer than another one took it to be.
   */
  end(part: RecordingPart, frames: number): Promise<void>
  /**
   * What there is of a session's recording: while the call lasts, all but its last seconds.
   *
   * @throws AppError `not_found` when the tenant has no such session, or nothing of it is kept; `unavailable` when a part
   * lies where only another node reaches it.
   */
  open(tenantId: TenantId, sessionId: string): Promise<RecordedAudio>
  /** Deletes a session's recording, files first. Again, it changes nothing. */
  remove(tenantId: TenantId, sessionId: SessionId): Promise<void>
  /**
   * Ends the parts of nodes that are gone, as far as their files go. One whose file still grows is not left behind: its node
   * has only lost the database. A part whose file is not here waits a day for the node that has it, then it is lost.
   */
  endOrphans(): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  nodeId: NodeId
  log: Pick<Log, 'warn'>
  files: RecordingFiles
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
}

/** `tenant`: as it is told, which is as it is now. */
type EndedAs = { frames: number; tenant: TenantRuntime }

/** Much longer than a node that is alive is ever silent: the part of one that is not gone must not be ended. */
const GONE_AFTER_MS = 30_000
const LOST_AFTER_MS = 86_400_000

export function makeRecordings({ db, clock, log, nodeId, files, tenants }: Deps): Recordings {
  /** Enters the part where it is not known yet. Null when the call is not known any more. */
  async function enterIn(tx: Tx, { tenant, callSid, ...part }: RecordingPart) {
    const tenantId = tenant.tenant_id
    const call = await lockCall(tx, tenantId, callSid)
    const session = call && (await findVoiceSession(tx, tenantId, part.sessionId))
    if (!session) return null
    const isNew = await insertPart(tx, tenantId, { ...rowOf(tenantId, part), node_id: nodeId })
    return isNew ? withRecording(tx, session) : session
  }

  async function endIn(tx: Tx, part: RecordingPart, { frames, tenant }: EndedAs): Promise<void> {
    const session = await enterIn(tx, part)
    if (!session) return
    const { tenant_id: tenantId } = part.tenant
    const key = { session_id: part.sessionId, part: part.part }
    const before = await findPart(tx, tenantId, key)
    const outcome = outcomeOf(frames)
    if (!before || !isNews(before, outcome)) return
    const wasWhole = await isWhole(tx, session)
    await settlePart(tx, tenantId, key, outcome)
    if (frames === 0) await forgetIfNothingIsKept(tx, tenantId, part.sessionId)
    const recorded = frames === 0 ? session : await withRecording(tx, session)
    if (!wasWhole) await enqueue(tx, tenant, await tellRecording(tx, tenant, recorded), new Date(clock.now()))
  }

  /** Of a part that another node took for left behind, the node that recorded it still says how much it was. */
  function isNews({ state, node_id, bytes }: RecordingRow, outcome: PartOutcome): boolean {
    return state === 'recording' || (node_id === nodeId && (bytes ?? 0) < (outcome.bytes ?? 0))
  }

  async function end(part: RecordingPart, frames: number): Promise<void> {
    // That may not be how the call began.
    const tenant = (await tenants.get(part.tenant.tenant_id)) ?? part.tenant
    await db.transaction().execute((tx) => endIn(tx, part, { frames, tenant }))
  }

  async function endOrphan(orphan: OrphanRow): Promise<void> {
    const { frames, writtenMs } = (await files.stateOf(orphan.path)) ?? { frames: null, writtenMs: 0 }
    if (clock.now() - writtenMs < GONE_AFTER_MS) return
    if (frames === null && clock.now() - orphan.started_at.getTime() < LOST_AFTER_MS) return
    const tenant = await tenants.get(orphan.tenant_id)
    if (!tenant) return
    const { call_sid: callSid, session_id: sessionId, part, started_at: startedAt } = orphan
    await end({ tenant, callSid, sessionId, part, startedAt }, frames ?? 0)
  }

  /** @throws AppError for a part whose file is not here. */
  async function storedPart({ path, started_at, node_id }: RecordingRow): Promise<StoredPart> {
    const file = await files.stateOf(path)
    if (file) return { path, startedAt: started_at, frames: file.frames }
    const others = (await liveNodes(db, GONE_AFTER_MS)).filter((id) => id !== nodeId)
    if (!others.some((id) => id === node_id)) throw notKept()
    throw new AppError(
      'unavailable',
      'The recording lies on another node. Ask that one, or let the nodes share DATA_DIR/recordings.',
      { isLasting: true },
    )
  }

  return {
    begin: (part) => db.transaction().execute(async (tx) => void (await enterIn(tx, part))),
    end,
    async open(tenantId, sessionId) {
      const session = isUuid(sessionId) ? await findVoiceSession(db, tenantId, sessionId as SessionId) : null
      if (!session) throw new AppError('not_found', 'There is no such voice session.')
      const rows = (await listParts(db, tenantId, session.id)).filter(({ state }) => state !== 'lost')
      if (rows.length === 0) throw new AppError('not_found', 'The session was not recorded.')
      return joined(files, await Promise.all(rows.map(storedPart)), session.started_at)
    },
    async remove(tenantId, sessionId) {
      await files.remove(tenantId, sessionId)
      await db.transaction().execute(async (tx) => {
        await deleteParts(tx, tenantId, sessionId)
        await updateVoiceSession(tx, tenantId, sessionId, { has_recording: false })
      })
    },
    async endOrphans() {
      const orphans = await listOrphansAcrossTenants(db, GONE_AFTER_MS)
      for (const orphan of orphans.filter(({ node_id }) => node_id !== nodeId)) {
        const { tenant_id, session_id: voice_session_id, part } = orphan
        await endOrphan(orphan).catch((err: unknown) => {
          if (err instanceof AppError && err.code === 'unavailable') throw err
          // What is wrong with one, as with its disk, holds up no other one. It is looked at again the next time.
          log.warn({ err, tenant_id, voice_session_id, part }, 'a recording of a node that is gone was not ended')
        })
      }
    },
  }
}

async function withRecording(tx: Tx, session: VoiceSessionRow): Promise<VoiceSessionRow> {
  if (session.has_recording) return session
  await updateVoiceSession(tx, session.tenant_id, session.id, { has_recording: true })
  return { ...session, has_recording: true }
}

async function forgetIfNothingIsKept(tx: Tx, tenantId: TenantId, sessionId: SessionId): Promise<void> {
  const parts = await listParts(tx, tenantId, sessionId)
  if (parts.every(({ state }) => state === 'lost'))
    await updateVoiceSession(tx, tenantId, sessionId, { has_recording: false })
}

function rowOf(tenantId: TenantId, { sessionId, part, startedAt }: Omit<RecordingPart, 'tenant' | 'callSid'>) {
  return {
    session_id: sessionId,
    part,
    path: pathOfPart(tenantId, sessionId, part),
    state: 'recording' as const,
    started_at: startedAt,
    duration_ms: null,
    bytes: null,
  }
}

type PartOutcome = Pick<RecordingRow, 'state' | 'duration_ms' | 'bytes'>

function outcomeOf(frames: number): PartOutcome {
  if (frames === 0) return { state: 'lost', duration_ms: null, bytes: null }
  const bytes = STORED_HEADER_BYTES + frames * STORED_FRAME_BYTES
  return { state: 'ready', duration_ms: Math.round(frames / FRAMES_PER_MS), bytes }
}

function notKept(): AppError {
  return new AppError('not_found', 'The audio of this recording is not kept any more.')
}
