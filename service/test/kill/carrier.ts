import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SeenCall } from './call-watch.ts'
import type { CarrierAsk, CarrierStart, Ringing } from './carrier-messages.ts'

const PROGRAM = fileURLToPath(new URL('./carrier-process.ts', import.meta.url))

/** The carrier and the model as a process of their own. */
export type CarrierProcess = {
  carrierUrl: string
  modelUrl: string
  ring(ringing: Ringing): Promise<void>
  stopRinging(): Promise<void>
  /** All calls so far, oldest first. */
  look(): Promise<SeenCall[]>
  /** Every caller hangs up; resolves when nothing of their calls goes on any more. Then they are forgotten. */
  hangUp(): Promise<SeenCall[]>
  stop(): Promise<void>
}

/** Starts it. `own` is told its process id. @throws Error when it ends before it listens */
export async function startCarrierProcess(start: CarrierStart, own: (pid: number) => void): Promise<CarrierProcess> {
  const child = fork(PROGRAM, [JSON.stringify(start)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  if (child.pid !== undefined) own(child.pid)
  const waiting = new Map<number, (result: unknown) => void>()
  const gone = exited.then((): never => {
    throw new Error('the simulated carrier ended')
  })
  gone.catch(() => {})
  let asked = 0
  child.on('message', ({ id, result }: { id: number; result: unknown }) => {
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  const answered = <T>(id: number): Promise<T> =>
    Promise.race([gone, new Promise<T>((resolve) => waiting.set(id, resolve as (result: unknown) => void))])
  const ask = (what: CarrierAsk): Promise<SeenCall[]> => {
    asked += 1
    child.send({ id: asked, ask: what })
    return answered(asked)
  }
  const addresses = await answered<{ carrierUrl: string; modelUrl: string }>(0)
  return {
    ...addresses,
    ring: async (ringing) => void (await ask({ do: 'ring', ...ringing })),
    stopRinging: async () => void (await ask({ do: 'stop-ringing' })),
    look: () => ask({ do: 'look' }),
    hangUp: () => ask({ do: 'hang-up' }),
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
