import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { childEnvironment } from '../harness/child-environment.ts'
import { until } from '../harness/wait.ts'

/** An install, a build and a database on a slow machine. */
const START_MS = 600_000

/** `npm start`, as it runs in a folder. */
export type Started = {
  /** Everything that it has shown. */
  shown: () => string
  stop: () => Promise<void>
}

/** Starts it on a port of its own, and resolves when it says that it runs. @throws Error with what it has shown when it ends instead. */
export async function npmStart(root: string): Promise<Started> {
  const child = spawn('npm', ['start'], {
    ...{ cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...childEnvironment(), HOME: root, PORT: '0' },
  })
  let shown = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
  }
  const runs = () => {
    if (child.exitCode !== null) throw new Error(`npm start has ended with ${child.exitCode}:\n${shown}`)
    return shown.includes('Parley is running at')
  }
  try {
    await until(runs, { what: 'npm start to say that it runs', timeoutMs: START_MS, everyMs: 50 })
  } catch (error) {
    await stop(child)
    throw error
  }
  return { shown: () => shown, stop: () => stop(child) }
}

/** As Ctrl-C does: the whole group is told. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGINT')
  await ended
}
