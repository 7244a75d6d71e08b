import type { Certificate } from './certificate.ts'
import type { Place } from './child.ts'
import type { LoadPlan } from './load.ts'
import { LoadProcess } from './load-process.ts'
import { type MachineUse, machineUse, type ProcessUse, processUse } from './proc.ts'
import type { System } from './systems.ts'
import type { LoadReport } from './tally.ts'

/** One system under one number of calls, once. Percentages are of one core. */
export type Measurement = {
  system: string
  role: System['role']
  calls: number
  cpuMsPerCallSecond: number
  busyPercent: number
  rssKbPerCall: number
  /** How much the memory grew inside the window. */
  rssGrowthKbPerCall: number
  threads: ThreadShare[]
  report: LoadReport
  noise: Noise
}

/** What a thread took of a call's second. Threads of one name are one; idle ones are left out. */
export type ThreadShare = { name: string; cpuMsPerCallSecond: number }

/** What else the machine did in the window: processes that are not ours, and the host. */
export type Noise = { othersPercent: number; stealPercent: number }

/** Where things run, and for how long. `certificate`: the providers speak TLS. */
export type Bed = Omit<Place, 'cores'> & {
  systemCore: number
  loadCore: number
  certificate: Certificate | undefined
  profileFolder: string | undefined
  plan: Omit<LoadPlan, 'entrance' | 'calls'>
}

type Sample = { atMs: number; system: ProcessUse[]; ours: number; machine: MachineUse }

/** Starts the load and the system, each on its core, runs the calls, and reads what they used inside the window. */
export async function measure(system: System, calls: number, bed: Bed): Promise<Measurement> {
  const load = await LoadProcess.start({ ...bed, cores: [bed.loadCore] }, bed.certificate)
  try {
    const running = await system.start({ ...load.providers, ...bed }, { ...bed, cores: systemCores(bed) })
    try {
      const idleKb = sum(running.pids.map((pid) => processUse(pid).rssKb))
      const samples: Sample[] = []
      const take = () => samples.push(sample(running.pids, load.pid))
      const report = await load.run({ ...bed.plan, entrance: running.entrance, calls }, take)
      return evaluate({ system, calls, idleKb, samples, report })
    } finally {
      await running.stop()
    }
  } finally {
    await load.stop()
  }
}

/** A profiler's own thread needs a core that the profiled one does not keep from it. */
function systemCores({ systemCore, loadCore, profileFolder }: Bed): number[] {
  return profileFolder === undefined ? [systemCore] : [systemCore, loadCore]
}

function sample(pids: readonly number[], loadPid: number): Sample {
  const system = pids.map((pid) => processUse(pid))
  const own = process.cpuUsage()
  const ours = sum(system.map((use) => use.cpuMs)) + processUse(loadPid).cpuMs + (own.user + own.system) / 1000
  return { atMs: performance.now(), system, ours, machine: machineUse() }
}

type Raw = { system: System; calls: number; idleKb: number; samples: Sample[]; report: LoadReport }

function evaluate({ system, calls, idleKb, samples, report }: Raw): Measurement {
  const [open, closed] = samples
  if (open === undefined || closed === undefined) throw new Error('the load had no window')
  const windowMs = closed.atMs - open.atMs
  const cpuMs = sum(closed.system.map((use) => use.cpuMs)) - sum(open.system.map((use) => use.cpuMs))
  const [openKb, closedKb] = [open, closed].map((one) => sum(one.system.map((use) => use.rssKb))) as [number, number]
  const othersMs = closed.machine.busyMs - open.machine.busyMs - (closed.ours - open.ours)
  return {
    system: system.name,
    role: system.role,
    calls,
    cpuMsPerCallSecond: cpuMs / report.callSeconds,
    busyPercent: (cpuMs / windowMs) * 100,
    rssKbPerCall: (closedKb - idleKb) / calls,
    rssGrowthKbPerCall: (closedKb - openKb) / calls,
    threads: threadShares(open, closed, report.callSeconds),
    report,
    noise: {
      othersPercent: Math.max(0, (othersMs / windowMs) * 100),
      stealPercent: ((closed.machine.stealMs - open.machine.stealMs) / windowMs) * 100,
    },
  }
}

function threadShares(open: Sample, closed: Sample, callSeconds: number): ThreadShare[] {
  const before = new Map(open.system.flatMap((use) => use.threads).map((thread) => [thread.id, thread.cpuMs]))
  const byName = new Map<string, number>()
  for (const { id, name, cpuMs } of closed.system.flatMap((use) => use.threads)) {
    byName.set(name, (byName.get(name) ?? 0) + cpuMs - (before.get(id) ?? 0))
  }
  const busy = [...byName].filter(([, cpuMs]) => cpuMs > 0)
  return busy.map(([name, cpuMs]) => ({ name, cpuMsPerCallSecond: cpuMs / callSeconds }))
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
