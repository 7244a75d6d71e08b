import type { ServedApp } from './served-app.ts'

type Answer = { status: number; headers: Headers; body: Record<string, unknown> }
type Sent = { body?: unknown; origin?: string | null; headers?: Record<string, string> }

/** What a browser is to the service: it keeps one cookie, and says whose page asks. */
export class Browser {
  readonly #served: ServedApp
  cookie: string | null = null

  constructor(served: ServedApp) {
    this.#served = served
  }

  /** Calls a path below `/api/v1`. Without `origin` the page is one of the service's own; null sends none. */
  async call(method: string, path: string, { body, origin, headers = {} }: Sent = {}): Promise<Answer> {
    const page = origin === undefined ? this.#served.address : origin
    const response = await fetch(`${this.#served.address}/api/v1${path}`, {
      method,
      headers: {
        ...(this.cookie !== null && { cookie: `theme=dark; parley_admin=${this.cookie}` }),
        ...(page !== null && method !== 'GET' && { origin: page }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const set = /parley_admin=([^;]*)/.exec(response.headers.get('set-cookie') ?? '')?.[1]
    if (set !== undefined) this.cookie = set || null
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] }
  }

  login(username: string, password: string): Promise<Answer> {
    return this.call('POST', '/admin/auth/login', { body: { username, password } })
  }
}
