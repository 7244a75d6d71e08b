import type {
  Client,
  ClientPathsWithMethod,
  FetchOptions,
  FetchResponse,
  MaybeOptionalInit,
  ParseAs,
} from 'openapi-fetch'
import type { paths } from './public-api.ts'

type Content<Path extends keyof paths> = paths[Path] extends { get: { responses: { 200: { content: infer Found } } } }
  ? Found
  : never

type NotJson = {
  [Path in keyof paths]: [Content<Path>] extends [never] | [{ 'application/json': unknown }] ? never : Path
}[keyof paths]

/** What answers that are not JSON are given as, where the request does not say. All of them: the type knows which there are. */
export const PARSED_AS = {
  '/api/v1/dnc/export': 'text',
  '/api/v1/sessions/{stream_sid}/events': 'stream',
  '/api/v1/voice-sessions/{id}/recording': 'blob',
  '/metrics': 'text',
} as const satisfies Record<NotJson, ParseAs>

type ParsedAs = typeof PARSED_AS
type NotText = { [Path in keyof ParsedAs]: ParsedAs[Path] extends 'text' ? never : Path }[keyof ParsedAs]
type MediaType = `${string}/${string}`

/** `GET` of what is neither JSON nor text: the description can only call it a string. */
type GetBytes = <Path extends NotText, Init extends FetchOptions<paths[Path]['get']>>(
  url: Path,
  init: Init,
) => Promise<
  FetchResponse<paths[Path]['get'], Init extends { parseAs: ParseAs } ? Init : { parseAs: ParsedAs[Path] }, MediaType>
>

type Described = Omit<paths, NotText>

/**
 * What a request may hold is no type parameter, as it is in openapi-fetch: so the compiler tells of a member that the API does not
 * have, which the service would refuse.
 */
type Asks<Method extends 'get' | 'put' | 'post' | 'patch' | 'delete'> = <
  Path extends ClientPathsWithMethod<Client<Described>, Method>,
  As extends ParseAs = 'json',
>(
  url: Path,
  ...init: Given<MaybeOptionalInit<Described[Path], Method>, As>
) => Promise<FetchResponse<NonNullable<Described[Path][Method]>, { parseAs: As }, MediaType>>

/** Members beside those of a request go to `fetch`, whose options are not the same everywhere. */
type Given<Init, As> = undefined extends Init
  ? [init?: Init & { parseAs?: As; [name: string]: unknown }]
  : [init: Init & { parseAs?: As; [name: string]: unknown }]

/** The API's methods as openapi-fetch has them, each answer typed as what it is given as. */
export type Methods = Omit<Client<Described>, 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'> & {
  GET: GetBytes & Asks<'get'>
  PUT: Asks<'put'>
  POST: Asks<'post'>
  PATCH: Asks<'patch'>
  DELETE: Asks<'delete'>
}
