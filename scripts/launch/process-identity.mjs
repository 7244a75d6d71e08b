import { readFileSync } from 'node:fs'

/** State and start time from /proc; undefined where there is no /proc or no such process. */
function procStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], startTicks: fields[19] }
  } catch {
    return undefined
  }
}

function exists(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/**
 * Names a running process by its id and, where /proc tells it, its start time: an id alone is given out again.
 * @param {number} pid
 * @returns {string} one line for a lock or pid file
 */
export function identityOf(pid) {
  return `${pid} ${procStat(pid)?.startTicks ?? ''}`.trim()
}

/**
 * Tells whether the process named by `identityOf` still runs. One that ended and was not yet reaped does not.
 * @param {string} identity
 * @returns {boolean}
 */
export function isRunning(identity) {
  const [pid, startTicks] = identity.split(' ')
  if (!/^[1-9]\d*$/.test(pid ?? '') || !exists(Number(pid))) return false
  const stat = procStat(pid)
  if (!stat) return true
  return stat.state !== 'Z' && (startTicks === undefined || stat.startTicks === startTicks)
}
