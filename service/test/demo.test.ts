import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { childEnvironment } from './harness/child-environment.ts'
import { isCrowded } from './harness/crowded.ts'
import { scratchFolder } from './harness/scratch.ts'
import { until } from './harness/wait.ts'

/** The call takes 40 s of real time; a machine that is busy with other tests starts slowly. */
const CALL_TIMEOUT_MS = 150_000
const WAIT_MS = 60_000
/** What is said of the pace of a call. */
const OF_PACE = /FAIL {2}(no gap over|first_word_ms|reply_gap_ms|longest_silence_ms|.*voiced)/
vi.setConfig({ testTimeout: CALL_TIMEOUT_MS })

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'demo.ts')

let folder: string
beforeEach(async () => {
  folder = await scratchFolder()
})
afterEach(() => rm(folder, { recursive: true }))

/** Starts the demo with a folder of its own for all that it writes, and nothing of the test's own environment but `childEnvironment`. */
function startDemo(...args: string[]) {
  const wavPath = join(folder, 'call.wav')
  const child = spawn(process.execPath, [SCRIPT, '--wav', wavPath, ...args], {
    env: { ...childEnvironment(), TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  const ended = once(child, 'close').then(([code]: unknown[]) => code)
  return { child, wavPath, written: () => written, ended }
}

/** The processes that a process has started, as Linux lists them. */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return listed.split(' ').filter(Boolean).map(Number)
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

describe('npm run demo', () => {
  it('rehearses a whole call: it is heard, told, recorded and stored as it should be', async () => {
    const { ended, written, wavPath } = startDemo('--check')
    const code = await ended
    const failed = written().match(/FAIL .*/g) ?? []
    // The service and the providers wait for their turn then, and the caller hears gaps that are none of ours.
    expect(isCrowded() ? failed.filter((line) => !OF_PACE.test(line)) : failed, written()).toEqual([])
    expect(code, written()).toBe(failed.length > 0 ? 1 : 0)
    expect(written()).toMatch(/This is a rehearsal/)
    expect(written()).toMatch(/caller +Good morning\. .* When are you open\?\n/)
    expect(written()).toMatch(
      /Robin +We are open on weekdays .* \(answered after \d+ ms\)\n +interrupted; not heard: ".*behind the shop\."\n/,
    )
    expect(written()).toMatch(/tool +schedule_callback: done\n/)
    expect(written()).toMatch(/Stored\n +call log +CA\w+: inbound .*, completed, \d+ s, agent Robin\n/)
    const wav = await readFile(wavPath)
    expect([wav.readUInt16LE(22), wav.readUInt32LE(24)]).toEqual([2, 8_000])
    expect(await readdir(folder)).toEqual(['call.wav'])
  })

  it('says before the call that it cannot be written where it is to be', async () => {
    const { ended, written } = startDemo('--wav', join(folder, 'none', 'call.wav'))
    expect(await ended).toBe(2)
    expect(written()).toMatch(/^--wav .*: there is no folder .* in which it could be written\.\n$/)
  })

  it.runIf(process.platform === 'linux')(
    'leaves no process and no folder behind after Ctrl-C in the middle of the call',
    async () => {
      const { child, ended, written } = startDemo()
      await until(() => /Robin +\S/.test(written()), { timeoutMs: WAIT_MS, what: 'the agent to speak' })
      const started = await childrenOf(child.pid)
      expect(started.length).toBeGreaterThan(0)
      child.kill('SIGINT')
      expect(await ended, written()).toBe(130)
      expect(started.filter((pid) => !isGone(pid))).toEqual([])
      expect(await readdir(folder)).toEqual([])
    },
  )

  it.runIf(process.platform === 'linux')('leaves no process behind when it is killed', async () => {
    const { child, ended, written } = startDemo()
    await until(() => written().includes('rings'), { timeoutMs: WAIT_MS, what: 'the call to begin' })
    const started = await childrenOf(child.pid)
    child.kill('SIGKILL')
    await ended
    await until(() => started.every(isGone), { timeoutMs: WAIT_MS, what: 'the service to be gone' })
  })

  it('says how it is used when it is used wrongly', async () => {
    const { ended, written } = startDemo('--chekc')
    expect(await ended).toBe(2)
    expect(written()).toMatch(/--chekc.*npm run demo -- \[--check \| --check-audio\]/s)
  })
})
