import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readPage } from '../kernel/pages.ts'
import { actorOf } from '../platform/http/guards.ts'
import {
  DeleteHeaders,
  errorResponses,
  iso,
  listBody,
  listResponse,
  longRowsPageFields,
  Ok,
  PROMPT_KEY_PATTERN,
  strict,
  Timestamp,
  WriteHeaders,
} from '../platform/http/schemas.ts'
import type { PromptRow } from './prompt-store.ts'
import { type Prompts, promptEtag } from './prompts.ts'

/** Any text: a key that no prompt can have is an unknown one. */
const Params = strict({ key: Type.String({ minLength: 1, maxLength: 200 }) })
const NewParams = strict({ key: Type.String({ pattern: PROMPT_KEY_PATTERN }) })

const PutBody = strict({
  text: Type.String({
    minLength: 1,
    maxLength: 32_000,
    description: 'Told to the model before the instructions. {{caller}}, {{tenant}}, {{metadata.…}} are filled in.',
  }),
  description: Type.Optional(Type.String({ maxLength: 2_000, description: 'For people.' })),
})
const Prompt = Type.Object({
  key: Type.String(),
  text: Type.String(),
  description: Type.String(),
  etag: Type.String({ description: 'Quoted, as in the ETag header. Changes with the text and the description.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const PromptAnswer = Type.Object({ ok: Ok, prompt: Prompt })

/** The administration of the prompts that tenants' documents name. */
export function promptRoutes(prompts: Prompts): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/admin/prompts',
      {
        schema: {
          tags: ['admin'],
          summary: 'List prompts, newest first',
          operationId: 'listPrompts',
          querystring: strict(longRowsPageFields),
          response: { 200: listResponse('prompts', Prompt), ...errorResponses },
        },
      },
      async (request) => {
        const { rows, nextCursor } = await prompts.list(readPage(request.query))
        return listBody('prompts', rows.map(toWire), nextCursor)
      },
    )

    app.get(
      '/api/v1/admin/prompts/:key',
      {
        schema: {
          tags: ['admin'],
          summary: 'Read a prompt',
          operationId: 'getPrompt',
          params: Params,
          response: { 200: PromptAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const prompt = await prompts.get(request.params.key)
        reply.header('etag', promptEtag(prompt))
        return answer(prompt)
      },
    )

    app.put(
      '/api/v1/admin/prompts/:key',
      {
        schema: {
          tags: ['admin'],
          summary: 'Create or replace a prompt',
          operationId: 'putPrompt',
          params: NewParams,
          headers: WriteHeaders,
          body: PutBody,
          response: { 200: PromptAnswer, ...errorResponses },
        },
      },
      async (request, reply) => {
        const { text, description = '' } = request.body
        const conditions = { ifMatch: request.headers['if-match'], ifNoneMatch: request.headers['if-none-match'] }
        const written = await prompts.put(request.params.key, { text, description }, conditions, actorOf(request))
        reply.header('etag', promptEtag(written))
        return answer(written)
      },
    )

    app.delete(
      '/api/v1/admin/prompts/:key',
      {
        schema: {
          tags: ['admin'],
          summary: 'Delete a prompt',
          operationId: 'deletePrompt',
          params: Params,
          headers: DeleteHeaders,
          response: { 200: PromptAnswer, ...errorResponses },
        },
      },
      async (request) => {
        const ifMatch = request.headers['if-match']
        return answer(await prompts.remove(request.params.key, actorOf(request), ifMatch))
      },
    )
  }
}

function answer(prompt: PromptRow) {
  return { ok: true as const, prompt: toWire(prompt) }
}

function toWire(prompt: PromptRow) {
  const { prompt_key: key, text, description, created_at, updated_at } = prompt
  const etag = promptEtag(prompt)
  return { key, text, description, etag, created_at: iso(created_at), updated_at: iso(updated_at) }
}
