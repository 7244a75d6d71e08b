import { readdirSync, readFileSync } from 'node:fs'

/** What a process has used since it began: CPU of all its threads, user and system, and its memory now. */
export type ProcessUse = { cpuMs: number; rssKb: number; threads: ThreadUse[] }
/** One thread of a process. `name` is what the kernel calls it. */
export type ThreadUse = { id: number; name: string; cpuMs: number }
/** What all cores have done since boot. `stealMs`: time in which the host gave the core to another machine. */
export type MachineUse = { busyMs: number; stealMs: number }

/** /proc counts in USER_HZ, which is 100 on every platform that Node runs on. */
const MS_PER_TICK = 10
/** Fields of /proc/<pid>/stat behind the name: user and system time. */
const UTIME = 11
const STIME = 12

/** Reads a process. @throws Error when there is none. */
export function processUse(pid: number): ProcessUse {
  const { cpuMs } = parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const rssKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
  return { cpuMs, rssKb, threads: readdirSync(`/proc/${pid}/task`).flatMap((id) => threadUse(pid, Number(id))) }
}

/** Reads the whole machine. */
export function machineUse(): MachineUse {
  return parseMachine(readFileSync('/proc/stat', 'latin1'))
}

/** The cores this process may run on, lowest first. */
export function allowedCores(): number[] {
  return parseCores(/^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '')
}

/** Parses a line of /proc/<pid>/stat. The name stands in brackets and may itself hold spaces and brackets. */
export function parseStat(line: string): { name: string; cpuMs: number } {
  const nameEnd = line.lastIndexOf(')')
  const fields = line.slice(nameEnd + 2).split(' ')
  const ticks = Number(fields[UTIME]) + Number(fields[STIME])
  return { name: line.slice(line.indexOf('(') + 1, nameEnd), cpuMs: ticks * MS_PER_TICK }
}

/** Parses the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
export function parseMachine(text: string): MachineUse {
  const ticks = text.slice(0, text.indexOf('\n')).trim().split(/\s+/).slice(1).map(Number)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = ticks
  return { busyMs: (user + nice + system + irq + softirq) * MS_PER_TICK, stealMs: steal * MS_PER_TICK }
}

/** Parses a list of cores such as `0-2,5`. */
export function parseCores(list: string): number[] {
  return list
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, i) => first + i)
    })
}

function threadUse(pid: number, id: number): ThreadUse[] {
  try {
    return [{ id, ...parseStat(readFileSync(`/proc/${pid}/task/${id}/stat`, 'latin1')) }]
  } catch {
    // A thread may end between the listing and the reading.
    return []
  }
}
