import { othersFirst } from '../../../kernel/clock.ts'
import type { RegisteredRoute } from '../registered-routes.ts'
import { ErrorBody } from '../schemas.ts'
import { makeComponents } from './components.ts'
import { HEADERS } from './headers.ts'
import { nameAnswers } from './names.ts'
import type { Notes } from './notes.ts'
import { operationOf, type Surroundings } from './operation.ts'
import { refusal, refusalName } from './refusals.ts'
import { type DescribedRoute, describedRoutes, templateOf } from './routes.ts'
import type { Schema } from './schema.ts'
import { schemesOf } from './security.ts'
import { type DescribedEvent, webhooksOf } from './webhooks.ts'

/** The version of the API that is described. */
const API_VERSION = '0.1.0'

/** The three documents. */
export const DOCUMENTS = ['public', 'admin', 'openapi'] as const
export type DocumentName = (typeof DOCUMENTS)[number]

/** What the documents are made of. */
export type ApiFacts = {
  routes: RegisteredRoute[]
  notes: Notes
  /** Schemas that have a name of their own. */
  named: Record<string, Schema>
  events: DescribedEvent[]
  publicUrl: string
}

const ABOUT: Record<DocumentName, { title: string; description: string; holds(route: DescribedRoute): boolean }> = {
  public: {
    title: 'Parley: tenants, intake, carriers',
    description: 'What applications of tenants call, what carriers call, and what needs no credential.',
    holds: ({ surface, successor }) => surface !== 'admin' && surface !== 'pages' && successor === null,
  },
  admin: {
    title: 'Parley: administration',
    description: 'What administrators of an installation, and of a tenant, do.',
    holds: ({ surface }) => surface === 'admin',
  },
  openapi: {
    title: 'Parley',
    description: 'Everything that this service answers, old addresses and pages among it.',
    holds: () => true,
  },
}

const COMMON =
  ' Every error has one shape: `{ok: false, error, code, request_id}`, with a 400 `details`, and with the 409 of a call that may not be placed `refusals`. ' +
  'What answers a GET answers a HEAD too, unless the answer is a stream.'

/** One of the documents, as OpenAPI 3.1. It is made in pieces, between which others have their turn. */
export async function describeApi(name: DocumentName, facts: ApiFacts): Promise<object> {
  const all = describedRoutes(facts.routes)
  const { title, description, holds } = ABOUT[name]
  const routes = all.filter(holds)
  const components = makeComponents({ Error: ErrorBody as Schema, ...facts.named, ...nameAnswers(all) })
  // Named by its refusals alone.
  components.place(ErrorBody as Schema)
  const around = { components, notes: facts.notes, ...knownOf(all) }
  await othersFirst()
  const paths = await pathsOf(routes, around)
  const webhooks = name === 'admin' ? {} : webhooksOf(facts.events, components)
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: API_VERSION,
      description: description + COMMON,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: facts.publicUrl }],
    externalDocs: { url: `${facts.publicUrl}/docs`, description: 'Guides' },
    paths,
    ...(name !== 'admin' && { webhooks }),
    components: {
      schemas: components.schemas,
      responses: refusalsIn(paths),
      headers: HEADERS,
      securitySchemes: schemesOf(Object.values(paths).flatMap((each) => Object.values(each))),
    },
  }
}

/** Operations that are described in one go: a millisecond or two. */
const AT_A_TIME = 4

type Paths = Record<string, Record<string, object>>

async function pathsOf(routes: DescribedRoute[], around: Surroundings): Promise<Paths> {
  const paths: Paths = {}
  for (const [at, route] of routes.toSorted((a, b) => a.url.localeCompare(b.url)).entries()) {
    if (at % AT_A_TIME === 0) await othersFirst()
    const path = templateOf(route.url)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, around) }
  }
  return paths
}

/** Only those that the document refers to. */
function refusalsIn(paths: Paths): Record<string, object> {
  const statuses = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap((operation) => Object.keys((operation as { responses: object }).responses))
    .filter((status) => Number(status) >= 400)
  return Object.fromEntries(
    [...new Set(statuses)].sort().map((status) => [refusalName(Number(status)), refusal(Number(status))]),
  )
}

function knownOf(routes: DescribedRoute[]): Pick<Surroundings, 'notedAs' | 'hasVersions'> {
  const byAddress = new Map(routes.map((route) => [`${route.method} ${route.url}`, route.operationId]))
  const versioned = new Set(
    routes.filter(({ schema }) => schema.headers?.properties?.['if-match'] !== undefined).map(({ url }) => url),
  )
  return {
    notedAs: ({ method, successor, operationId }) => byAddress.get(`${method} ${successor}`) ?? operationId,
    hasVersions: (url) => versioned.has(url),
  }
}
