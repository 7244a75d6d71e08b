import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { AppError } from '../kernel/errors.ts'
import { type ByteRange, readRange } from '../platform/http/byte-range.ts'
import { tenantOf } from '../platform/http/guards.ts'
import { AnyId, ErrorBody, errorResponses, strict } from '../platform/http/schemas.ts'
import type { RecordedAudio } from './recording-audio.ts'
import type { Recordings } from './recordings.ts'

const Params = strict({ id: AnyId })

const Audio = Type.Unsafe<Readable>(Type.String({ format: 'binary', description: 'WAV.' }))

/** The audio of a tenant's calls. To be registered behind `tenantGuard`. */
export function recordingRoutes(recordings: Pick<Recordings, 'open'>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/api/v1/voice-sessions/:id/recording',
      {
        schema: {
          tags: ['runtime'],
          summary: 'Listen to a voice session: WAV, the caller on the left, the agent as it was heard on the right',
          operationId: 'getRecording',
          params: Params,
          querystring: strict({}),
          response: { 200: Audio, 206: Audio, 416: ErrorBody, ...errorResponses },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        const audio = await recordings.open(tenantOf(request), id)
        const isHead = request.method === 'HEAD'
        // A range is of what GET gives, by RFC 9110: what is asked for by HEAD is the whole.
        const range = isHead ? wholeOf(audio) : rangeOf(request.headers, audio)
        reply.headers({ ...headersOf(id, audio), 'content-length': range.until - range.from })
        if (range.isPart) {
          reply.code(206).header('content-range', `bytes ${range.from}-${range.until - 1}/${audio.sizeBytes}`)
        }
        return reply.send(Readable.from(isHead ? [] : audio.read(range.from, range.until)))
      },
    )
  }
}

/** The recording of a call that goes on grows, so its size tells which one a client has the beginning of. */
function tagOf({ sizeBytes }: RecordedAudio): string {
  return `"${sizeBytes}"`
}

function headersOf(id: string, audio: RecordedAudio): Record<string, string> {
  return {
    'content-type': 'audio/wav',
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${id}.wav"`,
    etag: tagOf(audio),
  }
}

type Given = ByteRange & { isPart: boolean }

function wholeOf({ sizeBytes }: RecordedAudio): Given {
  return { from: 0, until: sizeBytes, isPart: false }
}

/** @throws AppError `range_not_satisfiable`. */
function rangeOf(
  headers: { range?: string | undefined; 'if-range'?: string | string[] | undefined },
  audio: RecordedAudio,
): Given {
  const { sizeBytes } = audio
  const ifRange = headers['if-range']
  const isSame = ifRange === undefined || ifRange === tagOf(audio)
  const range = isSame ? readRange(headers.range, sizeBytes) : null
  if (range === 'unsatisfiable') {
    throw new AppError('range_not_satisfiable', 'The recording is shorter than the range begins.', {
      headers: { 'content-range': `bytes */${sizeBytes}` },
    })
  }
  return range ? { ...range, isPart: true } : wholeOf(audio)
}
