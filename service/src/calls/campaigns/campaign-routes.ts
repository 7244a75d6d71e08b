import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest, preValidationAsyncHookHandler } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError, invalidRequest } from '../../kernel/errors.ts'
import { readPage } from '../../kernel/pages.ts'
import { csvText } from '../../platform/http/csv.ts'
import { tenantOf } from '../../platform/http/guards.ts'
import { requestKeyOf, tellReplay } from '../../platform/http/request-keys.ts'
import {
  AnyId,
  ErrorBody,
  errorResponses,
  forPeople,
  listBody,
  listResponse,
  longRowsPageFields,
  nullable,
  Ok,
  pageFields,
  strict,
} from '../../platform/http/schemas.ts'
import { callingHoursFault } from '../../tenancy/tenant-rules.ts'
import { CallableNumber, TimeOfDay } from '../../tenancy/tenant-values.ts'
import { readContactCsv, type SentContact } from './campaign-contacts.ts'
import { Campaign, CampaignCall, showCampaign, showContact } from './campaign-shape.ts'
import { CAMPAIGN_STATUSES, MACHINE_ACTIONS } from './campaign-store.ts'
import type { CampaignMove, Campaigns, CountedCampaign, NewCampaign } from './campaigns.ts'
import { CONTACT_STATUSES } from './contact-store.ts'

const MAX_CONTACTS = 10_000
const MAX_PHONE_CHARS = 100

const Contact = strict({
  phone: Type.Optional(
    nullable(
      Type.String({
        description: 'In E.164. A contact without one, or with one that is none, is told in errors, and left out.',
      }),
    ),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Becomes the call's: 4 KiB at most. `consent` is true where the person agreed to be called.",
    }),
  ),
})

const Body = strict({
  name: forPeople(200),
  agent_key: Type.String({ minLength: 1, maxLength: 63, description: 'Who calls, by the version that is published.' }),
  from: Type.Optional(nullable(CallableNumber)),
  contacts: Type.Array(Contact, { minItems: 1, maxItems: MAX_CONTACTS }),
  start_at: Type.Optional(
    nullable(Type.String({ format: 'date-time', description: 'Once it is started, nobody is called before.' })),
  ),
  calling_hours: Type.Optional(nullable(strict({ start: TimeOfDay, end: TimeOfDay }))),
  calls_per_second: Type.Optional(Type.Number({ minimum: 0.01, maximum: 20, description: 'Default 1.' })),
  max_concurrent: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Default 5.' })),
  max_attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: 'For each contact. Default 3.' })),
  retry_minutes: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 10_080 }), {
      minItems: 1,
      maxItems: 10,
      description: 'The wait after the first call in vain, the second, and so on. Default 30, 60, 120.',
    }),
  ),
  on_machine: Type.Optional(
    nullable(Type.Enum(MACHINE_ACTIONS, { description: "Default: what the agent's voicemail says." })),
  ),
})

const SETTING_TEXT = { minLength: 1, maxLength: 200 }
const settingText = (description: string) => Type.Optional(Type.String({ ...SETTING_TEXT, description }))

/** With a CSV as the body: what else there is to say of the campaign. */
const CsvQuery = strict({
  name: settingText('With text/csv: as in the JSON body. So are the others.'),
  agent_key: settingText('Needed.'),
  from: settingText('A number.'),
  start_at: settingText('An instant.'),
  calling_hours: settingText('09:00-17:00'),
  calls_per_second: settingText('A number.'),
  max_concurrent: settingText('A number.'),
  max_attempts: settingText('A number.'),
  retry_minutes: Type.Optional(
    Type.Union([Type.String(SETTING_TEXT), Type.Array(Type.String(SETTING_TEXT), { maxItems: 10 })], {
      description: '30,60,120, or each under the name again.',
    }),
  ),
  on_machine: settingText('hang_up or leave_message.'),
})

const Made = Type.Object({
  ok: Ok,
  campaign: Campaign,
  errors: Type.Array(
    Type.Object({
      at: Type.Integer({ minimum: 1, description: 'The place in the list, of a CSV the line.' }),
      error: Type.String(),
    }),
    { description: 'Contacts that were not taken, and why: of those the first 1,000.' },
  ),
})

const MAX_ERRORS = 1_000
const ListQuery = strict({ ...pageFields, status: Type.Optional(Type.Enum(CAMPAIGN_STATUSES)) })
const CallsQuery = strict({ ...longRowsPageFields, status: Type.Optional(Type.Enum(CONTACT_STATUSES)) })
const Params = strict({ id: AnyId })
const One = Type.Object({ ok: Ok, campaign: Campaign })

const MOVES: Record<CampaignMove, string> = {
  start: 'Start a campaign, or go on with one that was paused',
  pause: 'Place no further calls until it is started again',
  cancel: 'Call nobody any more; calls that are on their way go on',
}

/** Campaigns. To be registered behind `tenantGuard`. */
export function campaignRoutes(campaigns: Campaigns): FastifyPluginAsyncTypebox {
  return async (app) => {
    await app.register(creation(campaigns))

    app.get(
      '/api/v1/campaigns',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List campaigns, newest first',
          operationId: 'listCampaigns',
          querystring: ListQuery,
          response: { 200: listResponse('campaigns', Campaign), ...errorResponses },
        },
      },
      async (request) => {
        const { status = null, ...query } = request.query
        const { rows, nextCursor } = await campaigns.list(tenantOf(request), status, readPage(query))
        const shownRows = rows.map(({ campaign, counts }) => showCampaign(campaign, counts))
        return listBody('campaigns', shownRows, nextCursor)
      },
    )

    app.get(
      '/api/v1/campaigns/:id',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Read a campaign, and what its contacts have come to',
          operationId: 'getCampaign',
          params: Params,
          response: { 200: One, ...errorResponses },
        },
      },
      async (request) => shown(await campaigns.get(tenantOf(request), request.params.id)),
    )

    app.get(
      '/api/v1/campaigns/:id/calls',
      {
        schema: {
          tags: ['runtime'],
          summary: 'List the contacts of a campaign with their last calls, the last of the list first',
          operationId: 'listCampaignCalls',
          params: Params,
          querystring: CallsQuery,
          response: { 200: listResponse('calls', CampaignCall), ...errorResponses },
        },
      },
      async (request) => {
        const { status = null, ...query } = request.query
        const { id } = request.params
        const { rows, nextCursor } = await campaigns.calls(tenantOf(request), id, status, readPage(query))
        return listBody('calls', rows.map(showContact), nextCursor)
      },
    )

    for (const [move, summary] of Object.entries(MOVES) as [CampaignMove, string][]) {
      app.post(
        `/api/v1/campaigns/:id/${move}`,
        {
          schema: {
            tags: ['runtime'],
            summary,
            operationId: `${move}Campaign`,
            params: Params,
            response: { 200: One, ...errorResponses },
          },
        },
        async (request) => shown(await campaigns.move(tenantOf(request), request.params.id, move)),
      )
    }
  }
}

const NOT_TAKEN = 'Send application/json, or the list of contacts as text/csv.'

/** By itself, because no other route takes a list. */
function creation(campaigns: Campaigns): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.addContentTypeParser('text/csv', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => ({
      csv: csvText(bytes),
    }))
    const lists = new WeakMap<FastifyRequest, SentContact[]>()

    app.post(
      '/api/v1/campaigns',
      {
        preValidation: takeCsv(lists),
        errorHandler(error, request) {
          if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') throw new AppError('unsupported_media_type', NOT_TAKEN)
          throw lists.has(request) ? inQuery(error) : error
        },
        schema: {
          tags: ['runtime'],
          summary: 'Make a campaign of a list of contacts; it is a draft until it is started',
          operationId: 'createCampaign',
          querystring: CsvQuery,
          body: Body,
          response: { 200: Made, ...errorResponses, 422: ErrorBody },
        },
      },
      async (request, reply) => {
        const wanted = wantedOf(request.body, lists.get(request) ?? null)
        const made = await campaigns.create(tenantOf(request), wanted, requestKeyOf(request))
        if (made.isReplay) tellReplay(reply)
        return { ...shown(made), errors: made.errors.slice(0, MAX_ERRORS) }
      },
    )
  }
}

function shown({ campaign, counts }: CountedCampaign) {
  return { ok: true as const, campaign: showCampaign(campaign, counts) }
}

/** @throws AppError `invalid_request` for hours that are none. */
function wantedOf(body: Static<typeof Body>, list: SentContact[] | null): NewCampaign {
  const hours = body.calling_hours ?? null
  const fault = hours && callingHoursFault(hours)
  if (fault) throw invalidRequest([{ path: '/body/calling_hours', message: fault }])
  return {
    name: body.name,
    agentKey: body.agent_key,
    from: body.from ?? null,
    contacts: list ?? body.contacts.map(sentAt),
    startAt: body.start_at ? new Date(body.start_at) : null,
    hours,
    callsPerSecond: body.calls_per_second ?? 1,
    maxConcurrent: body.max_concurrent ?? 5,
    maxAttempts: body.max_attempts ?? 3,
    retryMinutes: body.retry_minutes ?? [30, 60, 120],
    onMachine: body.on_machine ?? null,
  }
}

/** Cut, what is too long for any number is still none. */
function sentAt({ phone, metadata = {} }: Static<typeof Contact>, index: number): SentContact {
  return { at: index + 1, phone: phone?.slice(0, MAX_PHONE_CHARS).toWellFormed() ?? '', metadata }
}

/**
 * Makes the body that is asked for of a CSV and what the query says beside it, so that both are checked alike.
 *
 * The hook throws AppError `invalid_request` for a query beside a JSON body, and for what is no list.
 */
function takeCsv(lists: WeakMap<FastifyRequest, SentContact[]>): preValidationAsyncHookHandler {
  return async (request) => {
    const { csv } = (request.body ?? {}) as { csv?: unknown }
    const query = request.query as Record<string, string>
    const isCsv = /^text\/csv *(;|$)/i.test(request.headers['content-type'] ?? '')
    if (!isCsv) {
      const [unused] = Object.keys(query)
      if (unused !== undefined) throw invalidRequest([{ path: `/query/${unused}`, message: 'goes with text/csv only' }])
      return
    }
    const contacts = await readContactCsv(typeof csv === 'string' ? csv : '')
    lists.set(request, contacts)
    // What is too long to be a number is a fault of its line, as what is none is: the list is taken all the same.
    const checked = contacts.map(({ phone, metadata }) => ({
      phone: phone.slice(0, MAX_PHONE_CHARS).toWellFormed(),
      metadata,
    }))
    request.body = { ...settingsIn(query), contacts: checked }
  }
}

/** The same refusal, with the settings of a list told where they were sent. */
function inQuery(error: Error): Error {
  if (!(error instanceof AppError) || !error.details) return error
  const { code, message, headers } = error
  const details = error.details.map((fault) => ({ ...fault, path: fault.path.replace(SETTING, '/query/') }))
  return new AppError(code, message, { details, headers })
}

/** But for the contacts, which are the body. */
const SETTING = /^\/body\/(?!contacts(\/|$))/

const NUMBERS = ['calls_per_second', 'max_concurrent', 'max_attempts']
const WITH_PLUS = ['from', 'start_at']

/** In a query a plain + is a space: the one before a number, and that of a zone. */
const LOST_PLUS = /^ (?=\d)| (?=\d\d:\d\d$)/

/** What stands in the query, in the words of the body; what is wrong with it the schema of that tells. */
function settingsIn(query: Record<string, unknown>): Record<string, unknown> {
  const read = ([name, value]: [string, unknown]): [string, unknown] => {
    // A list is also given as others give theirs in a query, each part of it under the name again.
    if (name === 'retry_minutes') return [name, String(value).split(',').map(numberIn)]
    if (typeof value !== 'string') return [name, value]
    if (NUMBERS.includes(name)) return [name, numberIn(value)]
    if (WITH_PLUS.includes(name)) return [name, value.replace(LOST_PLUS, '+')]
    if (name !== 'calling_hours') return [name, value]
    const [start, ...end] = value.split('-')
    return [name, { start, end: end.join('-') }]
  }
  return Object.fromEntries(Object.entries(query).map(read))
}

function numberIn(text: string): number | string {
  return /^ *\d{1,9}(\.\d{1,6})? *$/.test(text) ? Number(text) : text
}
