import { Button } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { List } from './use-list.ts'

/** How far below the window the end of a list may be when more of it is asked for. */
const AHEAD_PX = 1_500

/** Asks for more of a list: by itself as soon as its end comes near, and when somebody presses it. */
export function LoadMore<Row>({ list }: { list: List<Row> }) {
  const { hasMore, isLoadingMore, error, loadMore } = list
  const button = useRef<HTMLButtonElement>(null)
  // What has failed is tried again by hand alone.
  const mayAsk = hasMore && !isLoadingMore && error === null
  useEffect(() => {
    const end = button.current
    if (!end || !mayAsk) return
    const observer = new IntersectionObserver(
      // A busy browser tells at once of all that came since: what is so now stands last.
      (seen) => {
        if (seen.at(-1)?.isIntersecting) loadMore()
      },
      { rootMargin: `0px 0px ${AHEAD_PX}px` },
    )
    observer.observe(end)
    return () => observer.disconnect()
  }, [mayAsk, loadMore])
  if (!hasMore) return null
  return (
    <Button ref={button} variant="default" loading={isLoadingMore} onClick={loadMore}>
      Load more
    </Button>
  )
}
