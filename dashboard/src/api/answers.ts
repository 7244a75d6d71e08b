import type { paths } from './api-types.ts'

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete'

/** What the service answers to a request that it did. */
export type Answer<Path extends keyof paths, Asked extends Method & keyof paths[Path]> = paths[Path][Asked] extends {
  responses: { 200: { content: { 'application/json': infer Body } } }
}
  ? Body
  : never
