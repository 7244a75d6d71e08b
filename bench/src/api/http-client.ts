import { Agent, get } from 'node:http'

/** What came of a request: how long it took to the end of its answer, and the answer. */
export type Timed = { ms: number; text: string }

const TIMEOUT_MS = 30_000

/** Asks one server for pages, over connections that are kept. */
export class HttpClient {
  readonly #address: string
  readonly #headers: Record<string, string>
  readonly #agent: Agent

  /** `token`: a bearer token; undefined where none is asked for. */
  constructor(address: string, { connections, token }: { connections: number; token?: string | undefined }) {
    this.#address = address
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** @throws Error with the beginning of the answer when it was not 200. */
  get(path: string): Promise<Timed> {
    const { promise, resolve, reject } = Promise.withResolvers<Timed>()
    const startMs = performance.now()
    const options = { agent: this.#agent, headers: this.#headers, timeout: TIMEOUT_MS }
    const asked = get(`${this.#address}${path}`, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const ms = performance.now() - startMs
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve({ ms, text })
        else reject(new Error(`${path} was answered with ${response.statusCode}: ${text.slice(0, 300)}`))
      })
    })
    asked.on('timeout', () => asked.destroy(new Error(`${path} was not answered`)))
    asked.on('error', reject)
    return promise
  }

  /** Lets go of its connections. */
  close(): void {
    this.#agent.destroy()
  }
}

/** Asks again as soon as there is an answer, `width` times at once, for so long. Returns how many answers there were. */
export async function askWithoutPause(
  ask: () => Promise<unknown>,
  { width, ms }: { width: number; ms: number },
): Promise<number> {
  const endMs = performance.now() + ms
  let answers = 0
  const one = async () => {
    while (performance.now() < endMs) {
      await ask()
      answers += 1
    }
  }
  await Promise.all(Array.from({ length: width }, one))
  return answers
}
