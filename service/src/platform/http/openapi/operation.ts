import { STATUS_CODES } from 'node:http'
import { ErrorBody } from '../schemas.ts'
import type { Components } from './components.ts'
import { exampleOf } from './examples.ts'
import { type HeaderName, headerRefs } from './headers.ts'
import type { Note, NotedBody, Notes } from './notes.ts'
import { refusalName, refusalsOf } from './refusals.ts'
import { type DescribedRoute, groupOf, type RouteSchema } from './routes.ts'
import type { Schema } from './schema.ts'
import { securityOf } from './security.ts'

/** What the description of a route needs to know of the others. */
export type Surroundings = {
  components: Components
  notes: Notes
  /** The operationId that a route's notes stand under: an old address has those of the present one. */
  notedAs(route: DescribedRoute): string
  /** Whether what stands at the path has versions, which are told by ETag. */
  hasVersions(url: string): boolean
}

/** What answers with the version of what stands at a path. */
const TELLS_VERSION = new Set(['GET', 'PUT', 'PATCH'])

/** A route as an operation of OpenAPI 3.1. */
export function operationOf(route: DescribedRoute, around: Surroundings): object {
  const { operationId, summary, schema, successor } = route
  const note = around.notes[around.notedAs(route)] ?? {}
  const description = [schema.description, note.description].filter(Boolean).join(' ')
  const body = bodyOf(schema, note, around.components)
  const parameters = parametersOf(route, note, around.components)
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [groupOf(route)],
    ...(successor !== null && { deprecated: true }),
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: { ...successesOf(route, note, around), ...refusalsAt(route, note, around.components) },
    ...(note.socket && { 'x-websocket': note.socket }),
  }
}

/** One that has a body of its own is shown, the others are the same everywhere. */
function refusalsAt(route: DescribedRoute, note: Note, components: Components): Record<string, object> {
  const entries = refusalsOf(route, note).map((status): [number, object] => {
    const own = route.schema.response?.[status]
    if (!own || JSON.stringify(own) === ERROR_TEXT)
      return [status, { $ref: `#/components/responses/${refusalName(status)}` }]
    const answer = own.content
      ? contentOf(own, note, components)
      : { content: { 'application/json': { schema: components.place(own) } } }
    return [status, { description: STATUS_CODES[status], headers: headerRefs(['X-Request-Id']), ...answer }]
  })
  return Object.fromEntries(entries)
}

const ERROR_TEXT = JSON.stringify(ErrorBody)

const PLACES = [
  ['params', 'path'],
  ['querystring', 'query'],
  ['headers', 'header'],
] as const

function parametersOf({ url, schema }: DescribedRoute, note: Note, { place }: Components): object[] {
  const told = PLACES.flatMap(([part, place_]) => {
    const { properties = {}, required = [] } = schema[part] ?? {}
    return Object.entries(properties).map(([name, member]) =>
      parameter({ name, in: place_, required: required.includes(name), schema: place(member) }),
    )
  })
  const noted = (note.parameters ?? []).map(({ required = false, ...rest }) => parameter({ ...rest, required }))
  return [...told, ...unsaid(url, schema), ...noted]
}

/** Parts of the path that the route reads by itself. */
function unsaid(url: string, { params }: RouteSchema): object[] {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return names
    .filter((name) => !params?.properties?.[name])
    .map((name) => parameter({ name, in: 'path', required: true, schema: { type: 'string' } }))
}

type Told = { name: string; in: string; required: boolean; schema: Schema }

function parameter({ schema: { description, ...schema }, required, ...rest }: Told): object {
  return { ...rest, ...(description && { description }), ...(required && { required }), schema }
}

function bodyOf({ body }: RouteSchema, note: Note, { place }: Components): object | undefined {
  const noted = ({ type, schema, example }: NotedBody) => ({ [type]: { schema: place(schema), example } })
  if (note.body) return { required: true, content: noted(note.body) }
  if (!body) return undefined
  const example = note.example ?? exampleOf(body)
  const isNeeded = (body.required ?? []).length > 0
  const others = note.orBody ? noted(note.orBody) : {}
  return { required: isNeeded, content: { 'application/json': { schema: place(body), example }, ...others } }
}

function successesOf(route: DescribedRoute, note: Note, around: Surroundings): Record<string, object> {
  const headers = headersOf(route, note, around)
  if (note.socket) return { 101: { description: 'The connection is a WebSocket from here on.', headers } }
  const successes = Object.entries(route.schema.response ?? {}).filter(([status]) => Number(status) < 400)
  const entries = successes.map(([status, schema]): [string, object] => [
    status,
    {
      description: status === '202' ? 'Taken: it is worked on.' : (schema.description ?? 'As asked.'),
      headers,
      ...contentOf(schema, note, around.components),
    },
  ])
  return Object.fromEntries(entries)
}

type AnswerSchema = NonNullable<RouteSchema['response']>[string]

function contentOf(answer: AnswerSchema, note: Note, { place }: Components): { content?: object } {
  const { content, ...schema } = answer
  if (schema.type === 'null') return {}
  if (content) {
    const types = Object.entries(content).map(([type, { schema: of = {} }]) => [type, { schema: place(of) }])
    return { content: Object.fromEntries(types) }
  }
  if (schema.type === 'string') return { content: { [note.answerType ?? 'text/plain']: { schema: place(schema) } } }
  return { content: { 'application/json': { schema: place(schema), example: exampleOf(schema) } } }
}

const COUNTED = new Set(['runtime', 'public', 'pages'])

function headersOf(route: DescribedRoute, note: Note, around: Surroundings) {
  const names: HeaderName[] = ['X-Request-Id']
  if (COUNTED.has(route.surface)) names.push('RateLimit', 'RateLimit-Policy')
  if (around.hasVersions(route.url) && TELLS_VERSION.has(route.method)) names.push('ETag')
  if (route.successor !== null) names.push('Deprecation', 'Link')
  if (note.socket) names.push('Upgrade')
  return headerRefs([...names, ...(note.headers ?? [])])
}
