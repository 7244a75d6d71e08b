/** The service's API, as one credential reaches it. */
export type Api = {
  /** Asks for JSON. @throws Error with the service's own sentence when it does not answer with a 2xx. */
  ask<Answer>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer>
  /** Opens a stream. @throws Error like `ask`. */
  open(path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>
}

const TIMEOUT_MS = 10_000

/** @param base without a slash at its end; paths begin behind `/api/v1`. */
export function makeApi(base: string, headers: Record<string, string>): Api {
  async function request(method: string, path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`${base}/api/v1${path}`, { method, ...init }).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error
      throw new Error(`the service does not answer at ${base}: is it running?`, { cause: error })
    })
    if (response.ok) return response
    const text = await response.text()
    throw new Error(`${method} ${path} was answered with ${response.status}: ${sentenceIn(text)}`)
  }

  return {
    async ask<Answer>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const json = body && { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
      const response = await request(method, path, { signal, headers, ...json })
      return (await response.json()) as Answer
    },
    async open(path, signal) {
      const { body } = await request('GET', path, { headers, ...(signal && { signal }) })
      if (!body) throw new Error(`GET ${path} was answered with nothing`)
      return body
    },
  }
}

function sentenceIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: string }).error
  } catch {
    return text.slice(0, 200)
  }
}
