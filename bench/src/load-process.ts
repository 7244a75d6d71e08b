import { Child, type Place } from './child.ts'
import type { LoadPlan } from './load.ts'
import type { FromLoad, ToLoad } from './load-messages.ts'
import type { LoadReport } from './tally.ts'

/** The load in its own process, as the runner sees it. */
export class LoadProcess {
  readonly modelUrl: string
  readonly #child: Child

  private constructor(child: Child, modelUrl: string) {
    this.#child = child
    this.modelUrl = modelUrl
  }

  /** Starts it on `place.core`; resolves when its model listens. */
  static async start(place: Place): Promise<LoadProcess> {
    const child = await Child.start(new URL('./load-main.ts', import.meta.url), [], {
      ...place,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const { promise, resolve } = Promise.withResolvers<string>()
    child.process.once('message', (message: FromLoad) => {
      if (message.kind === 'listening') resolve(message.modelUrl)
    })
    return new LoadProcess(child, await child.before(promise))
  }

  /** Its process id. */
  get pid(): number {
    return this.#child.pid
  }

  /** Runs a plan; `onWindow` is called as the window opens and closes. */
  async run(plan: LoadPlan, onWindow: (state: 'open' | 'closed') => void): Promise<LoadReport> {
    const { promise, resolve } = Promise.withResolvers<LoadReport>()
    this.#child.process.on('message', (message: FromLoad) => {
      if (message.kind === 'window') onWindow(message.state)
      if (message.kind === 'report') resolve(message.report)
    })
    const order: ToLoad = { kind: 'run', plan }
    this.#child.process.send(order)
    return this.#child.before(promise)
  }

  /** Ends the process. */
  stop(): Promise<void> {
    return this.#child.stop()
  }
}
