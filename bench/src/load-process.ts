import type { Certificate } from './certificate.ts'
import { Child, type Place } from './child.ts'
import type { LoadPlan, Providers } from './load.ts'
import type { FromLoad, ToLoad } from './load-messages.ts'
import type { LoadReport } from './tally.ts'

/** Room for new objects: the fewer collections, the fewer beats that are late because of one. */
const NODE_ARGS = ['--max-semi-space-size=64']

/** The load in its own process, as the runner sees it. */
export class LoadProcess {
  readonly providers: Providers
  readonly #child: Child

  private constructor(child: Child, providers: Providers) {
    this.#child = child
    this.providers = providers
  }

  /** Starts it on `place.cores`, its servers over TLS when there is a certificate; resolves when they listen. */
  static async start(place: Place, certificate?: Certificate): Promise<LoadProcess> {
    const files = certificate === undefined ? [] : [certificate.keyFile, certificate.certFile]
    const child = await Child.start(new URL('./load-main.ts', import.meta.url), files, {
      ...place,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      nodeArgs: NODE_ARGS,
      isYardstick: true,
    })
    const { promise, resolve } = Promise.withResolvers<Providers>()
    child.process.once('message', (message: FromLoad) => {
      if (message.kind === 'listening') resolve(message.providers)
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
    const listen = (message: FromLoad) => {
      if (message.kind === 'window') onWindow(message.state)
      if (message.kind === 'report') resolve(message.report)
    }
    this.#child.process.on('message', listen)
    const order: ToLoad = { kind: 'run', plan }
    this.#child.process.send(order)
    const report = await this.#child.before(promise)
    this.#child.process.off('message', listen)
    return report
  }

  /** Ends the process. */
  stop(): Promise<void> {
    return this.#child.stop()
  }
}
