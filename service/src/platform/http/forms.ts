import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalidRequest } from '../../kernel/errors.ts'

/** The fields of a form in the order in which they came: names may come several times. */
export class Form {
  readonly #fields: [name: string, value: string][]

  constructor(fields: [name: string, value: string][]) {
    this.#fields = fields
  }

  fields(): [name: string, value: string][] {
    return this.#fields
  }

  /** The first value of this name; empty when there is none. */
  get(name: string): string {
    return this.#fields.find(([each]) => each === name)?.[1] ?? ''
  }

  /** The first value of each name. */
  toObject(): Record<string, string> {
    return Object.fromEntries(this.#fields.toReversed())
  }
}

/** Carriers send some dozens. To part and to sort more takes long, and who sends them is only known after that. */
const MAX_FIELDS = 1_000

/** Takes form-urlencoded bodies, and no others, on the routes of this plugin. */
export function takeForms(app: Pick<FastifyInstance, 'addContentTypeParser' | 'removeAllContentTypeParsers'>): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string | Buffer) => new Form(fieldsIn(String(body))),
  )
}

/** @throws AppError `invalid_request` for more fields than anybody sends. */
function fieldsIn(body: string): [name: string, value: string][] {
  if (body.split('&', MAX_FIELDS + 1).length > MAX_FIELDS)
    throw invalidRequest([{ path: '/body', message: `must have at most ${MAX_FIELDS} fields` }])
  return [...new URLSearchParams(body)]
}

/** The form that came with the request; an empty one when it has no body. */
export function formOf({ body }: FastifyRequest): Form {
  if (body === undefined || body === null) return new Form([])
  if (!(body instanceof Form)) throw new AppError('unsupported_media_type', 'Send a form, urlencoded.')
  return body
}
