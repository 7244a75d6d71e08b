import { AppError } from '../kernel/errors.ts'

/** The conditions of a write, as sent in `If-Match` and `If-None-Match`. */
export type Precondition = { ifMatch?: string | undefined; ifNoneMatch?: string | undefined }

/**
 * Checks a write's conditions against the ETag of what is stored; null when nothing is.
 *
 * Both headers take `*`, one tag, or a list. A tag without its quotes is understood.
 * @throws AppError `precondition_failed`.
 */
export function checkPrecondition({ ifMatch, ifNoneMatch }: Precondition, etag: string | null): void {
  if (ifMatch !== undefined && !names(ifMatch, etag)) {
    throw new AppError(
      'precondition_failed',
      etag === null
        ? 'There is nothing yet that If-Match could match. Leave it out to make it.'
        : 'It has changed since it was read. Read it again and retry with its ETag.',
    )
  }
  if (ifNoneMatch !== undefined && names(ifNoneMatch, etag)) {
    throw new AppError('precondition_failed', 'It exists already. Leave out If-None-Match to replace it.')
  }
}

/** A weak tag (`W/"…"`) never matches: ours are strong and are compared strongly. */
function names(header: string, etag: string | null): boolean {
  if (etag === null) return false
  const tags = header.split(',').map((tag) => tag.trim())
  return tags.some((tag) => tag === '*' || tag === etag || `"${tag}"` === etag)
}
