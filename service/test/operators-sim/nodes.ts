import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { NodeListens, NodeStart } from './node-process.ts'

const PROGRAM = fileURLToPath(new URL('./node-process.ts', import.meta.url))
const START_TIMEOUT_MS = 60_000

/** A node of the service that lives in virtual time. */
export type VirtualNode = NodeListens & {
  /** Resolves when it is this late there; rejects when it is gone. */
  moveTo(nowMs: number): Promise<void>
  /** Ends it as a crash would (SIGKILL) and resolves when it is gone. */
  kill(): Promise<void>
}

/** Starts one. `own` is told its process id. @throws Error when it ends before it listens, or takes longer than a minute */
export async function startVirtualNode(start: NodeStart, own: (pid: number) => void): Promise<VirtualNode> {
  const child = fork(PROGRAM, [JSON.stringify(start)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  if (child.pid !== undefined) own(child.pid)
  const exited = once(child, 'exit')
  const listens = await Promise.race([firstMessage(child), exited.then((): never => gone())])
  let asked = 0
  const waiting = new Map<number, () => void>()
  child.on('message', ({ id }: { id: number }) => {
    waiting.get(id)?.()
    waiting.delete(id)
  })
  return {
    ...listens,
    async moveTo(nowMs) {
      asked += 1
      const id = asked
      const moved = new Promise<void>((resolve) => waiting.set(id, resolve))
      if (child.connected) child.send({ id, nowMs })
      await Promise.race([moved, exited.then((): never => gone())])
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function gone(): never {
  throw new Error('the node ended')
}

async function firstMessage(child: ChildProcess): Promise<NodeListens> {
  const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(START_TIMEOUT_MS) })) as [NodeListens]
  return message
}
