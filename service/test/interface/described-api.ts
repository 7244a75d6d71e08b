import { rm } from 'node:fs/promises'
import { apiFacts } from '../../src/api-description.ts'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { makeDeps } from '../../src/deps.ts'
import { DOCUMENTS, type DocumentName, describeApi } from '../../src/platform/http/openapi/document.ts'
import type { Schema } from '../../src/platform/http/openapi/schema.ts'
import { registeredRoutes } from '../../src/platform/http/registered-routes.ts'
import { makeLog } from '../../src/platform/log.ts'
import { routeKey } from '../../src/role-table.ts'
import { scratchFolder } from '../harness/scratch.ts'

type Content = { content?: Record<string, { schema?: Schema; example?: unknown }> }

/** An operation of a description, as far as requests and answers go. */
export type Operation = {
  operationId: string
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: Content & { required?: boolean }
  responses: Record<string, Content>
}

/** A description of the API as it is given to programs. */
export type ApiDocument = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** What the service says of itself. */
export type DescribedApi = {
  /** Every route of the router but old addresses: `GET /api/v1/call-logs/:call_sid`. */
  routes: string[]
  documents: Record<DocumentName, ApiDocument>
}

/** Of the service as it is wired, without a database, which its description does not ask. */
export async function describedApi(): Promise<DescribedApi> {
  const folder = await scratchFolder()
  const config = readConfig({ DATABASE_URL: 'none', DATA_DIR: folder })
  const log = makeLog({ level: 'silent', secrets: [] })
  const app = await buildApp(await makeDeps(config, log, { version: '0', pid: process.pid }))
  try {
    await app.prepare()
    const facts = apiFacts(app.server, 'https://voice.example.com')
    const described = await Promise.all(DOCUMENTS.map(async (name) => [name, await describeApi(name, facts)] as const))
    const routes = registeredRoutes(app.server).map(({ method, url }) => routeKey(method, url))
    return {
      routes: [...new Set(routes)].sort(),
      documents: JSON.parse(JSON.stringify(Object.fromEntries(described))) as Record<DocumentName, ApiDocument>,
    }
  } finally {
    await app.close()
    await rm(folder, { recursive: true })
  }
}

/** The operation of a route as the router names it: `GET /api/v1/call-logs/:call_sid`. */
export function operationAt({ paths }: ApiDocument, route: string): Operation | undefined {
  const [method = '', url = ''] = route.split(' ')
  return paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
}

/** The operation of that name. */
export function operationNamed({ paths }: ApiDocument, operationId: string): Operation | undefined {
  return Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .find((operation) => operation.operationId === operationId)
}

/** The JSON that an operation answers a success with. */
export function answerSchema({ responses }: Operation): Schema | undefined {
  return (responses['200'] ?? responses['202'])?.content?.['application/json']?.schema
}

/** The JSON that an operation takes. */
export function bodySchema({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content?.['application/json']?.schema
}

/** The members of a schema, whether it is referred to, may be null, is one of several, or is that of each item of a list. */
export function membersOf(document: ApiDocument, schema: Schema | undefined): Record<string, Schema> {
  if (!schema) return {}
  const { $ref, items, properties, anyOf = [], oneOf = [], allOf = [] } = schema
  if ($ref !== undefined) return membersOf(document, document.components.schemas[$ref.split('/').at(-1) ?? ''])
  if (items) return membersOf(document, items)
  const parts = [...anyOf, ...oneOf, ...allOf].map((part) => membersOf(document, part))
  return Object.assign({}, ...parts, properties ?? {})
}
