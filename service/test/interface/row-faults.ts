import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DocumentName } from '../../src/platform/http/openapi/document.ts'
import {
  answerSchema,
  bodySchema,
  type DescribedApi,
  membersOf,
  type Operation,
  operationAt,
  operationNamed,
} from './described-api.ts'
import type { EndpointRow, FieldsRow, Row } from './row.ts'
import { hasTest } from './test-titles.ts'

const DOCS = join(import.meta.dirname, '../../../docs')
const PAGES =
  /^GET (\/|\/app|\/app\/\*|\/docs|\/docs\/:page|\/getting-started|\/swagger-ui|\/page-assets\/:file|\/api-docs\/.*)$/

/** Where the rows and what the service says of itself are not the same. */
export function rowFaults(rows: Row[], api: DescribedApi): string[] {
  const endpoints = rows.filter((row) => row.kind === 'endpoint')
  const names = endpoints.map(({ name }) => name)
  return [
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: listed twice`),
    ...api.routes.filter((route) => !names.includes(route)).map((route) => `${route}: unlisted`),
    ...endpoints.flatMap((row) => endpointFaults(row, api).map((fault) => `${row.name}: ${fault}`)),
    ...rows.flatMap((row) =>
      row.kind === 'fields' ? fieldFaults(row, api).map((fault) => `${row.name}: ${fault}`) : [],
    ),
    ...rows.flatMap(documentFaults),
  ]
}

/** Where a row names a test that there is not. */
export function proofFaults(rows: Row[]): string[] {
  return rows.flatMap(({ name, proof }) =>
    proof && !hasTest(proof.file, proof.test) ? [`${name}: ${proof.file} has no test "${proof.test}"`] : [],
  )
}

function endpointFaults(row: EndpointRow, api: DescribedApi): string[] {
  const isThere = api.routes.includes(row.name)
  if (row.operationId === null) return isThere ? ['is there: name its operation and its test'] : []
  if (!isThere) return ['is not there']
  const operation = operationAt(api.documents.openapi, row.name)
  if (!operation) return ['is not described']
  const members = membersOf(api.documents.openapi, answerSchema(operation))
  const elsewhere = documentsOf(row.name).filter((name) => !operationAt(api.documents[name], row.name))
  return [
    ...(operation.operationId === row.operationId ? [] : [`is called ${operation.operationId}`]),
    ...elsewhere.map((name) => `is not in the ${name} description`),
    ...row.answers.filter((name) => !(name in members)).map((name) => `does not answer ${name}`),
    ...row.errors.filter((status) => !(status in operation.responses)).map((status) => `does not list ${status}`),
  ]
}

/** The descriptions that have to have a route beside the whole one. */
function documentsOf(route: string): DocumentName[] {
  if (route.includes(' /api/v1/admin/')) return ['admin']
  return PAGES.test(route) ? [] : ['public']
}

function fieldFaults(row: FieldsRow, { documents: { openapi } }: DescribedApi): string[] {
  if (row.operationId === null) return []
  const operation = operationNamed(openapi, row.operationId)
  if (!operation) return [`there is no ${row.operationId}`]
  const { schema, path } = shownBy(operation, row.path)
  let members = membersOf(openapi, schema)
  for (const step of path) members = membersOf(openapi, members[step])
  return [
    ...row.fields.filter((name) => !(name in members)).map((name) => `${row.operationId} does not have ${name}`),
    ...Object.keys(members)
      .filter((name) => !row.fields.includes(name))
      .map((name) => `does not name ${name} of ${row.operationId}`),
  ]
}

function shownBy(operation: Operation, path: string[]) {
  const [first, ...rest] = path
  return first === '@body' ? { schema: bodySchema(operation), path: rest } : { schema: answerSchema(operation), path }
}

function documentFaults(row: Row): string[] {
  return row.kind === 'rule' && !existsSync(join(DOCS, row.document)) ? [`${row.name}: no docs/${row.document}`] : []
}
