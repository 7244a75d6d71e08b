import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_NOTES } from '../src/api-notes.ts'
import { patternMessage } from '../src/platform/http/faults.ts'
import { addFormats } from '../src/platform/http/formats.ts'
import { DOCUMENTS } from '../src/platform/http/openapi/document.ts'
import { registeredRoutes } from '../src/platform/http/registered-routes.ts'
import { useDatabase } from './harness/database.ts'
import { onOneDatabase } from './harness/once.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
let served: ServedApp
const documents: Record<string, Description> = {}

type Media = { schema?: object; example?: unknown }
type Content = { content?: Record<string, Media> }
type Operation = {
  operationId: string
  summary: string
  deprecated?: boolean
  tags: string[]
  security: object[]
  parameters?: { name: string; in: string; schema: object }[]
  requestBody?: Content
  responses: Record<string, Content & { $ref?: string }>
  'x-websocket'?: object
}
type Description = {
  info: { version: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; responses: Record<string, object>; securitySchemes: object }
}

beforeAll(async () => {
  served = await ServedApp.start(test)
  for (const name of DOCUMENTS) {
    const response = await fetch(`${served.address}/api-docs/${name}.json`)
    documents[name] = (await response.json()) as Description
  }
})
afterAll(() => served.app.close())

const documentOf = (name: string): Description => documents[name] as Description

function operationsOf({ paths }: Description): { address: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      address: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      operation,
    })),
  )
}

function addressesIn(name: string): string[] {
  return operationsOf(documentOf(name))
    .map(({ address }) => address)
    .sort()
}

function routes(): string[] {
  const all = registeredRoutes(served.app.server).filter(({ method }) => method !== 'HEAD')
  return all.map(({ method, url }) => `${method} ${url}`).sort()
}

/** `/logs` is a WebSocket, and no old address of the request of that name. */
const isOld = (address: string) => address !== 'GET /logs' && routes().includes(address.replace(' ', ' /api/v1'))
const isPage = (address: string) => !/ \/(api\/v1|livez|readyz|health|metrics|media-stream|logs)/.test(address)

describe('the descriptions of the API', () => {
  it('have every route of the router, and no other: all in one, each in its own', () => {
    const all = routes()
    expect(addressesIn('openapi')).toEqual(all)
    const isAdmin = (address: string) => address.includes(' /api/v1/admin/')
    expect(addressesIn('admin')).toEqual(all.filter(isAdmin))
    expect(addressesIn('public')).toEqual(all.filter((each) => !isAdmin(each) && !isOld(each) && !isPage(each)))
  })

  it('ask for no form of a text that a refusal could name by a regular expression alone', () => {
    const { components } = documentOf('openapi')
    const asked = operationsOf(documentOf('openapi')).map(({ operation: { parameters = [], requestBody } }) => [
      parameters.filter((parameter) => parameter.in !== 'header'),
      requestBody,
    ])
    const patterns = [...JSON.stringify([asked, components.schemas]).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)]
    const unworded = patterns
      .map(([, text = '']) => JSON.parse(text) as string)
      .filter((each) => patternMessage(each).startsWith('must match'))
    expect(unworded).toEqual([])
    expect(patterns.length).toBeGreaterThan(10)
  })

  it('let no named member that may be missing stand beside others that must be something', () => {
    const faults: object[] = []
    JSON.stringify(documentOf('openapi'), (_key, value: unknown) => {
      const { properties, additionalProperties, required } = Object(value)
      const isNarrow = typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
      if (properties && isNarrow && Object.keys(properties).some((name) => !required?.includes(name)))
        faults.push(properties)
      return value
    })
    expect(faults).toEqual([])
  })

  it.each(DOCUMENTS)('are valid OpenAPI 3.1, by the word of somebody else: %s', async (name) => {
    const result = await new Validator().validate(documentOf(name))
    expect(result).toMatchObject({ valid: true })
    expect(documentOf(name)).toMatchObject({
      openapi: '3.1.0',
      info: { version: '0.1.0' },
      servers: [{ url: served.app.publicUrl() }],
    })
  })

  it.each(DOCUMENTS)('say of each operation what it is, who may, and what may come of it: %s', (name) => {
    const operations = operationsOf(documentOf(name))
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    for (const { address, operation } of operations) {
      const { summary, tags, security, responses, deprecated = false } = operation
      expect([address, summary.length > 5, tags.length, Array.isArray(security)]).toEqual([address, true, 1, true])
      expect([address, Object.keys(responses).some((status) => /^[123]/.test(status))]).toEqual([address, true])
      expect([address, deprecated]).toEqual([address, isOld(address)])
      const inPath = [...address.matchAll(/:(\w+)/g)].map(([, part]) => part)
      const told = (operation.parameters ?? []).filter((each) => each.in === 'path').map((each) => each.name)
      expect([address, told.sort()]).toEqual([address, inPath.sort()])
    }
  })

  it.each(DOCUMENTS)(
    'refer to nothing that they do not have, and have nothing that they do not refer to: %s',
    (name) => {
      const text = JSON.stringify(documentOf(name))
      const refs = new Set(
        [...text.matchAll(/"\$ref":"#\/components\/(schemas|responses)\/(\w+)"/g)].map(([, a, b]) => `${a}/${b}`),
      )
      const { schemas, responses } = documentOf(name).components
      const has = [
        ...Object.keys(schemas).map((each) => `schemas/${each}`),
        ...Object.keys(responses).map((each) => `responses/${each}`),
      ]
      expect([...refs].sort()).toEqual(has.sort())
    },
  )

  it('say in each of its forms what is refused in several', () => {
    const { content } = documentOf('openapi').paths['/docs/{page}']?.['get']?.responses['404'] ?? {}
    expect(content).toMatchObject({
      'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      'text/html': { schema: { type: 'string' } },
    })
  })

  it.runIf(onOneDatabase())('show only examples that their schemas take', () => {
    const { components, paths, webhooks = {} } = documentOf('openapi')
    const ajv = new Ajv2020({ strict: true, strictTypes: false, validateFormats: true })
    addFormats(ajv)
    const inDocument = <Part extends object>(part: Part) =>
      JSON.parse(JSON.stringify(part).replaceAll('"#/components/schemas/', '"doc#/$defs/')) as Part
    ajv.addSchema({ $id: 'doc', $defs: inDocument(components.schemas) })
    const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((each) => Object.values(each))
    const parts = operations.flatMap(({ operationId, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].map((part) => ({ place: operationId, part: part as Content })),
    )
    const refusals = Object.entries(components.responses).map(([place, part]) => ({ place, part: part as Content }))
    const shown = [...parts, ...refusals].flatMap(({ place, part }) =>
      Object.values(part?.content ?? {}).flatMap(({ schema, example }) =>
        schema && example !== undefined ? [{ place, schema: inDocument(schema), example }] : [],
      ),
    )
    const wrong = shown.flatMap(({ place, schema, example }) => {
      return ajv.validate(schema, example) ? [] : [{ place, errors: ajv.errorsText(), example }]
    })
    expect(wrong).toEqual([])
    expect(shown.length).toBeGreaterThan(100)
  })

  it('describe what goes over WebSockets', () => {
    const isSocket = ({ operation }: { operation: Operation }) => '426' in operation.responses
    const sockets = operationsOf(documentOf('openapi')).filter(isSocket)
    expect(sockets.length).toBeGreaterThan(1)
    for (const { operation } of sockets) {
      const socket = { receives: expect.any(Array), sends: expect.any(Array), closes: expect.any(Array) }
      expect(operation).toMatchObject({ responses: { 101: {} }, 'x-websocket': socket })
    }
  })

  it('have notes of no route that there is not', () => {
    const ids = operationsOf(documentOf('openapi')).map(({ operation }) => operation.operationId)
    expect(Object.keys(API_NOTES).filter((id) => !ids.includes(id))).toEqual([])
  })

  it('say truly who may ask: what needs a credential refuses strangers, and nothing else does', async () => {
    for (const { address, operation } of operationsOf(documentOf('openapi'))) {
      const [method = '', path = ''] = address.split(' ')
      const url = served.address + path.replaceAll(/:\w+/g, '0190b2a4-6c1e-7f00-8a3b-5d9e1c2f4a60')
      const { status } = await fetch(url, { method, redirect: 'manual' })
      const isOpen =
        operation.security.length === 0 || operation.security.some((each) => Object.keys(each).length === 0)
      // A WebSocket is asked for first.
      const isSocket = '426' in operation.responses
      expect([address, isSocket ? status === 426 : status === 401]).toEqual([address, isSocket || !isOpen])
    }
  })

  it('know that a recording may be shorter than the range that is asked of it', () => {
    const recording = documentOf('public').paths['/api/v1/voice-sessions/{id}/recording']?.['get']
    expect(Object.keys(recording?.responses ?? {})).toEqual(expect.arrayContaining(['206', '416']))
  })

  it('know how a body is refused that nobody asked for', async () => {
    const written = operationsOf(documentOf('public')).filter(({ operation: { requestBody, responses } }) => {
      return !requestBody && '413' in responses
    })
    for (const address of ['DELETE /api/v1/dnc/:phone', 'POST /api/v1/campaigns/:id/start'])
      expect(written.map((each) => each.address)).toContain(address)
    await served.furnish('acme', { number: '+12025550140' })
    for (const { address, operation } of written) {
      const [method = '', path = ''] = address.split(' ')
      const headers = { authorization: `Bearer ${served.tokenOf('acme')}`, 'content-type': 'text/plain' }
      const response = await fetch(served.address + path.replaceAll(/:\w+/g, 'nothing'), {
        method,
        headers,
        body: 'hello',
      })
      expect([address, response.status, Object.keys(operation.responses)]).toEqual([
        ...[address, 415],
        expect.arrayContaining(['413', '415']),
      ])
    }
  })

  it('know the refusal of who acts for a tenant that is not there', () => {
    const acting = operationsOf(documentOf('openapi')).filter(({ operation: { security, responses } }) => {
      return security.some((each) => 'actsFor' in each) && !('426' in responses)
    })
    expect(acting.length).toBeGreaterThan(50)
    expect(acting.filter(({ operation }) => !('404' in operation.responses))).toEqual([])
  })

  it.each(DOCUMENTS)(
    'come compressed to those who take that, and not at all to those who have them: %s',
    async (name) => {
      const url = `${served.address}/api-docs/${name}.json`
      const first = await fetch(url)
      expect([first.headers.get('content-encoding'), first.headers.get('cache-control')]).toEqual(['gzip', 'no-cache'])
      expect(first.headers.get('access-control-allow-origin')).toBe('*')
      const again = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
      expect(again.status).toBe(304)
      const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
      expect([plain.headers.get('content-encoding'), await plain.json()]).toEqual([null, documentOf(name)])
    },
  )
})

describe('the pages of the service', () => {
  it('count for the address of whoever asks', async () => {
    const strict = await ServedApp.start(test, { settings: { RATE_LIMIT_IP_PER_MINUTE: '3' } })
    const get = async () => (await fetch(`${strict.address}/api-docs/public.json`)).status
    expect([await get(), await get(), await get(), await get()]).toEqual([200, 200, 200, 429])
    await strict.app.close()
  })
})
