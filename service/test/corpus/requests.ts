import type { ApiDocument, Operation } from '../interface/described-api.ts'
import type { SeededRandom } from './random.ts'
import { ODD_NUMBERS, ODD_TEXTS, Values } from './values.ts'

/** A request as it goes over the wire. */
export type WireRequest = {
  /** As the description has it: `GET /api/v1/call-logs/{call_sid}`. */
  route: string
  /** What the description says that may come of it; null where the path may be that of another route, or of none. */
  statuses: number[] | null
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

/** What is sent for the parameters of a path; by the name, or by the route and the name. */
export type RealIds = Record<string, string>

const BAD_SEGMENTS = [
  ...[
    '%00',
    'a%00b',
    '%ff',
    '%zz',
    '%',
    '..',
    '%2e%2e',
    '%2f',
    '%5c',
    '%F0%9F%98%80',
    '%ED%A0%80',
    'null',
    '-1',
    '0',
    '~',
  ],
  ...['x'.repeat(300), '9'.repeat(40), '%20', '%0d%0ax:%20y', '__proto__', "'", '%22', ':id', '{id}', '*'],
]
const BAD_QUERIES = [
  ...[
    'limit=-1',
    'limit=501',
    'limit=1e3',
    'limit=99999999999999999999',
    'limit=',
    'limit',
    'limit=1&limit=2',
    'offset=-1',
  ],
  ...[
    'cursor=nonsense',
    'cursor=',
    'cursor=%00',
    `cursor=${'x'.repeat(5_000)}`,
    'offset=1&cursor=x',
    'colour=red',
    '=',
    '&&&',
  ],
  ...[
    '__proto__=1',
    'a[b]=c',
    'status=%00',
    'status=',
    'from=yesterday',
    'q=%ED%A0%80',
    'q=%',
    'limit=0x10',
    'limit=NaN',
  ],
]
const BAD_JSON = [
  ...[
    '',
    '{',
    '{"a":',
    '{"a":1,}',
    "{'a':1}",
    'null',
    '[]',
    '1',
    '"a"',
    'nan',
    '{"__proto__":{"a":1}}',
    '\ufeff{}',
    '{}{}',
  ],
  ...[
    '{"a":1,"a":2}',
    '{"constructor":{"prototype":{}}}',
    '{"a":1e999}',
    '{"a":"\ud800"}',
    '{"a":\u0000}',
    'x'.repeat(300_000),
  ],
  ...[`${'['.repeat(20_000)}${']'.repeat(20_000)}`, `{"a":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`],
]
const OTHER_TYPES = [
  ...[
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'text/csv',
  ],
  ...['application/json; charset=utf-16', 'application/json5', 'a/b/c', '', 'application/octet-stream'],
]
const BAD_HEADERS: Record<string, string>[] = [
  ...['*', '"a', 'W/"a"', '""', 'x'.repeat(4_000)].map((tag) => ({ 'if-match': tag, 'if-none-match': tag })),
  ...['', 'x'.repeat(300), 'ü', ' '].map((key) => ({ 'idempotency-key': key })),
  ...['bytes=0-', 'bytes=-1', 'bytes=9-1', 'lines=1', 'bytes=0-1,5-6'].map((range) => ({ range })),
  ...['Bearer', 'Bearer x', 'Basic eDp5', `Bearer ${'x'.repeat(3_000)}`].map((authorization) => ({ authorization })),
  ...[{ 'x-request-id': '"}' }, { 'last-event-id': '-1' }, { accept: 'text/html' }, { 'accept-encoding': 'br;q=x' }],
  ...[{ origin: 'https://evil.example', cookie: 'parley_admin=x' }, { host: '' }, { 'x-forwarded-for': '1,2,3' }],
]

type Addressed = { route: string; operation: Operation }
type Kind = (request: WireRequest, operation: Operation) => WireRequest

/** Makes requests by the description of the API: sound ones, and such as nobody should send. */
export class RequestCorpus {
  readonly #random: SeededRandom
  readonly #values: Values
  readonly #ids: RealIds
  readonly #operations: Addressed[]

  constructor(random: SeededRandom, document: ApiDocument, ids: RealIds) {
    this.#random = random
    this.#values = new Values(random, document.components.schemas)
    this.#ids = ids
    this.#operations = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        route: `${method.toUpperCase()} ${path}`,
        operation,
      })),
    )
  }

  /** So many requests, as many of each operation. */
  *requests(count: number): Generator<WireRequest> {
    for (let made = 0; made < count; made += 1) {
      const { route, operation } = this.#operations[made % this.#operations.length] as Addressed
      const kinds = operation.requestBody ? this.#withBody : this.#withoutBody
      yield this.#random.pick(kinds)(this.#sound(route, operation), operation)
    }
  }

  /** With real ids, the queries that must be there, and a body that the schema takes. */
  #sound(route: string, operation: Operation): WireRequest {
    const [method = '', template = ''] = route.split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(this.#ids[`${route} ${name}`] ?? this.#ids[name] ?? 'unknown'),
    )
    const [taken] = Object.entries(operation.requestBody?.content ?? {})
    const plain = { route, statuses: Object.keys(operation.responses).map(Number), method, path }
    if (!taken) return { ...plain, headers: {} }
    const [type, { schema = {}, example }] = taken
    const isExample = this.#random.chance(0.3)
    const value = isExample ? example : this.#values.sound(schema)
    const body = typeof value === 'string' ? value : type.includes('json') ? JSON.stringify(value) : formOf(value)
    return { ...plain, headers: { 'content-type': type }, body }
  }

  readonly #asItIs: Kind = (request) => request

  readonly #spoilt: Kind = (request, { requestBody }) => {
    const schema = requestBody?.content?.['application/json']?.schema
    return schema ? { ...request, body: JSON.stringify(this.#values.spoilt(schema)) } : request
  }

  readonly #hugeNumbers: Kind = (request) => {
    const number = this.#random.pick([...ODD_NUMBERS.map(String), '1e400', `1${'0'.repeat(400)}`, '-1e-400'])
    return { ...request, body: (request.body ?? '').replaceAll(/(?<=:)-?\d+(\.\d+)?/g, number) }
  }

  readonly #notJson: Kind = (request) => ({ ...request, body: this.#random.pick(BAD_JSON) })

  readonly #otherType: Kind = (request) => ({
    ...request,
    headers: { ...request.headers, 'content-type': this.#random.pick(OTHER_TYPES) },
  })

  readonly #tooLong: Kind = (request) => ({
    ...request,
    body: JSON.stringify({ a: 'x'.repeat(this.#random.pick([1_000, 262_145, 400_000])) }),
  })

  readonly #unasked: Kind = (request) => ({
    ...request,
    headers: { 'content-type': 'application/json' },
    body: this.#random.pick(['{}', '{"a":1}', '', 'x', '[]']),
  })

  readonly #badPath: Kind = (request) => {
    const segments = request.path.split('/')
    const at = request.route.includes('{') ? this.#parameterAt(request.route) : segments.length - 1
    return { ...request, statuses: null, path: segments.with(at, this.#random.pick(BAD_SEGMENTS)).join('/') }
  }

  readonly #badQuery: Kind = (request, { parameters = [] }) => {
    const own = parameters.filter((each) => each.in === 'query').map(({ name }) => name)
    const odd = [...ODD_TEXTS, ...ODD_NUMBERS.map(String)]
    const value = encodeURIComponent(this.#random.pick(odd).toWellFormed())
    const query = own.length > 0 && this.#random.chance(0.6) ? `${this.#random.pick(own)}=${value}` : null
    return { ...request, path: `${request.path}?${query ?? this.#random.pick(BAD_QUERIES)}` }
  }

  readonly #soundQuery: Kind = (request, { parameters = [] }) => {
    const told = parameters.filter((each) => each.in === 'query' && this.#random.chance(0.5))
    const pairs = told.map(({ name, schema }) => {
      const value = this.#values.sound(schema)
      return `${name}=${encodeURIComponent(String(typeof value === 'string' ? value.toWellFormed() : value))}`
    })
    return { ...request, path: pairs.length > 0 ? `${request.path}?${pairs.join('&')}` : request.path }
  }

  readonly #badHeaders: Kind = (request) => ({
    ...request,
    headers: { ...request.headers, ...this.#random.pick(BAD_HEADERS) },
  })

  readonly #withoutBody: Kind[] = [
    ...[this.#asItIs, this.#soundQuery, this.#soundQuery, this.#badPath, this.#badQuery, this.#badQuery],
    ...[this.#badHeaders, this.#unasked],
  ]
  readonly #withBody: Kind[] = [
    ...[this.#asItIs, this.#asItIs, this.#spoilt, this.#spoilt, this.#spoilt, this.#spoilt, this.#hugeNumbers],
    ...[this.#notJson, this.#otherType, this.#tooLong, this.#badPath, this.#badQuery, this.#badHeaders],
  ]

  #parameterAt(route: string): number {
    const [, template = ''] = route.split(' ')
    const places = template.split('/').flatMap((segment, at) => (segment.startsWith('{') ? [at] : []))
    return this.#random.pick(places)
  }
}

function formOf(value: unknown): string {
  return new URLSearchParams(
    Object.entries(value as object).map(([name, member]): [string, string] => [name, String(member)]),
  ).toString()
}
