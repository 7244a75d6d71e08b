import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerRest, type RestAccount, type RestAnswer, type RestParts } from './rest-api.ts'
import { RestError } from './rest-error.ts'
import { basicCredentials, type RestRequest, readRestRequest } from './rest-request.ts'

/** Who may use the REST surface: the account, and the secrets by user name (its own, its keys', test credentials'). */
export type RestAccess = { accountSid: string; live: Map<string, string>; test: Map<string, string> }

/** What is asked under `/control/`, by whoever has the account's credentials. Never rejects. */
export type AnswerControl = (request: RestRequest) => Promise<{ status: number; body: Record<string, unknown> }>

/** What the REST surface works on, and what steers the carrier itself. */
export type RestServerParts = RestParts & { control: AnswerControl }

/** The REST surface, listening. */
export type RestServer = { port: number; close(): Promise<void> }

/** Starts the REST surface. @throws Error when the address is taken */
export async function startRestServer(
  parts: RestServerParts,
  access: RestAccess,
  { host, port }: { host: string; port: number },
): Promise<RestServer> {
  const hanging = new Set<() => void>()
  const server = createServer({ requestTimeout: 15_000, headersTimeout: 10_000 }, (request, response) => {
    void serve(parts, access, { request, response, hanging })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const cancel of hanging) cancel()
      return stop(server)
    },
  }
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

type Exchange = { request: IncomingMessage; response: ServerResponse; hanging: Set<() => void> }

async function serve(parts: RestServerParts, access: RestAccess, exchange: Exchange): Promise<void> {
  const answer = await answerOf(parts, access, exchange.request)
  const send = () => {
    exchange.response.writeHead(answer.status, { 'content-type': 'application/json' })
    exchange.response.end(JSON.stringify(answer.body))
  }
  if (answer.fault === 'accept-then-reset') exchange.request.socket.resetAndDestroy()
  else if (answer.fault === 'accept-then-hang') {
    const cancel = parts.clock.after(parts.faults.hangMs, () => {
      exchange.hanging.delete(cancel)
      send()
    })
    exchange.hanging.add(cancel)
  } else send()
}

async function answerOf(parts: RestServerParts, access: RestAccess, request: IncomingMessage): Promise<RestAnswer> {
  try {
    const account = authenticate(request, access)
    const read = await readRestRequest(request)
    if (!read.path.startsWith('/control/')) return answerRest(parts, read, account)
    if (account.isTest) throw new RestError(20003, 'Test credentials steer nothing')
    return { ...(await parts.control(read)), fault: 'normal' }
  } catch (error) {
    const refusal = error instanceof RestError ? error : new RestError(20500, 'Internal Server Error')
    return { status: refusal.status, body: refusal.toJson(), fault: 'normal' }
  }
}

/** Whose the credentials are. @throws RestError 20003 when they are nobody's */
function authenticate(request: IncomingMessage, { accountSid, live, test }: RestAccess): RestAccount {
  const credentials = basicCredentials(request)
  if (credentials && matches(live, credentials)) return { accountSid, isTest: false }
  if (credentials && matches(test, credentials)) return { accountSid: credentials.user, isTest: true }
  throw new RestError(20003, 'Authenticate')
}

function matches(secrets: Map<string, string>, { user, password }: { user: string; password: string }): boolean {
  const secret = Buffer.from(secrets.get(user) ?? '')
  const given = Buffer.from(password)
  return secret.length > 0 && secret.length === given.length && timingSafeEqual(secret, given)
}
