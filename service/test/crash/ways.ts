import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unframe } from '../../src/records/journal-frame.ts'
import { until } from '../harness/wait.ts'
import type { CrashLedger } from './crash-ledger.ts'
import type { Stage } from './crash-stage.ts'
import { request } from './matches.ts'
import type { CrashPoint, Way } from './points.ts'

/** A kill at the n-th moment of its kind. `over`: clients need not be answered from now on. */
export type PointKill = {
  stage: Stage
  ledger: CrashLedger
  point: CrashPoint
  times: number
  /** The moment has to come within this, and so has each step towards it. */
  reachMs: number
  over: () => void
}

const EVERY_MS = 20
/** Some calls whose streams have begun. */
const STREAMS = 2

/** Brings the service to the moment, and kills it there. Resolves when it is dead; false when the moment did not come. */
export function reach(kill: PointKill): Promise<boolean> {
  return WAYS[kill.point.way](kill)
}

const WAYS: Record<Way, (kill: PointKill) => Promise<boolean>> = {
  'at-once': (kill) => sprung(kill, kill.point.is),

  /** The next process finds calls of one that is gone, and is killed over them. */
  async rescue(kill) {
    await talking(kill)
    await end(kill)
    return restartInto(kill)
  },

  /** The next process finds out what became of a call, and is killed over it. */
  async settle(kill) {
    if (!(await sprung(kill, request('carrier', 'after', /\/Calls\.json$/)))) return false
    return restartInto(kill)
  },

  /** What is said while the database is away is on the disk. */
  async 'journal-write'(kill) {
    if (!(await intoFiles(kill))) return false
    await end(kill)
    await noteKept(kill)
    kill.stage.pgProxy.mend()
    return true
  },

  /** What is on the disk has been stored since, and the disk does not know it yet. */
  async 'journal-settle'(kill) {
    if (!(await intoFiles(kill))) return false
    const reached = armed(kill, kill.point.is)
    kill.stage.pgProxy.mend()
    const isReached = await reached
    await noteKept(kill)
    return isReached
  },

  /** The next process stores what is on the disk, and is killed over it. */
  async 'journal-replay'(kill) {
    if (!(await intoFiles(kill))) return false
    await end(kill)
    await noteKept(kill)
    kill.stage.pgProxy.mend()
    return restartInto(kill)
  },

  /** While the database is away the journal begins another file. */
  async 'journal-rotate'(kill) {
    if (!(await intoFiles(kill))) return false
    const isBegun = async () => (await journalFiles(kill.stage)).length > kill.times
    const options = { what: 'another file', timeoutMs: kill.reachMs, everyMs: 1 }
    const isReached = await until(isBegun, options).catch(() => false)
    await end(kill)
    await noteKept(kill)
    kill.stage.pgProxy.mend()
    return isReached
  },

  /** The service is told to stop, and gives its calls to another node. */
  async 'hand-over'(kill) {
    const { stage } = kill
    await talking(kill)
    const { node, pid } = stage
    kill.over()
    await stage.restart()
    const reached = armed(kill, kill.point.is, pid)
    process.kill(pid, 'SIGTERM')
    const isReached = await reached
    await node.program.end('SIGKILL')
    // The other node has to go as well: a round begins with one that has just started.
    await end(kill)
    return isReached
  },
}

/** Kills at the moment, and waits until the process is gone. */
async function sprung(kill: PointKill, is: CrashPoint['is']): Promise<boolean> {
  const isReached = await armed(kill, is)
  await end(kill)
  return isReached
}

/** Kills at the moment. `pid`: another process than the one that runs now. */
async function armed({ stage, times, reachMs, over }: PointKill, is: CrashPoint['is'], pid?: number): Promise<boolean> {
  let isReached = false
  const kill = (): void => {
    over()
    isReached = isKilled(pid ?? stage.pid)
  }
  void stage.trap.arm(is, { times, kill })
  const options = { what: 'the kill', timeoutMs: reachMs, everyMs: EVERY_MS }
  await until(() => isReached, options).catch(() => false)
  stage.trap.disarm()
  return isReached
}

/** Kills it; false when it was gone before: then it ended by itself, and not at the moment. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

async function restartInto(kill: PointKill): Promise<boolean> {
  const { stage } = kill
  const reached = armed(kill, kill.point.is)
  const isListening = await stage.restart().then(
    () => true,
    () => false,
  )
  const isReached = await reached
  if (isListening) await end(kill)
  else if (!isReached) throw new Error('the service did not start')
  return isReached
}

async function talking({ ledger, reachMs }: PointKill): Promise<void> {
  await until(() => ledger.streams.size >= STREAMS, { what: 'calls', timeoutMs: reachMs, everyMs: EVERY_MS })
}

async function end({ stage, over }: PointKill): Promise<void> {
  over()
  await stage.node.program.end('SIGKILL')
}

/**
 * The database goes away under calls that talk, until what they say is in a file. False, and the service is dead with its
 * database back, when they had said all that they have to say before.
 */
async function intoFiles(kill: PointKill): Promise<boolean> {
  await talking(kill)
  kill.over()
  kill.stage.pgProxy.cut()
  const isKept = async () => (await turnsInFiles(kill.stage)).length > 0
  const options = { what: 'the journal on the disk', timeoutMs: kill.reachMs, everyMs: EVERY_MS }
  if (await until(isKept, options).catch(() => false)) return true
  await end(kill)
  kill.stage.pgProxy.mend()
  return false
}

async function noteKept({ stage, ledger }: PointKill): Promise<void> {
  ledger.kept.push(...(await turnsInFiles(stage)))
}

type Kept = {
  kind?: string
  body?: { key: string; type: string; turn?: { role: string; text: string }; call: { callSid: string } }
}

/** The newest of each turn that stands in the journal's files. */
async function turnsInFiles(stage: Stage): Promise<CrashLedger['kept']> {
  const paths = await journalFiles(stage)
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => '')))
  const turns = new Map<string, CrashLedger['kept'][number]>()
  for (const { kind, body } of texts.flatMap((text) => unframe(text).values as Kept[])) {
    if (kind !== 'entry' || !body?.turn) continue
    const { key, type, turn, call } = body
    if (type === 'turn') turns.set(key, { callSid: call.callSid, role: turn.role, text: turn.text })
    else if (type === 'forget') turns.delete(key)
  }
  return [...turns.values()]
}

/** Oldest first, as they are numbered. */
async function journalFiles({ installation }: Stage): Promise<string[]> {
  const folder = join(installation.dataDir, 'journal')
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.log'))
  return names.toSorted(new Intl.Collator('en', { numeric: true }).compare).map((name) => join(folder, name))
}
