import type { Client, FetchOptions, FetchResponse, ParseAs } from 'openapi-fetch'
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

type Described = Client<Omit<paths, NotText>>

/** The API's methods as openapi-fetch has them, each answer typed as what it is given as. */
export type Methods = Omit<Described, 'GET'> & { GET: GetBytes & Described['GET'] }
