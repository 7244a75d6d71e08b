import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

/** One page of a list, and what asks for the next one. */
export type ListPart<Row> = { rows: Row[]; next: string | null }

/** A list as far as it was asked for. */
export type List<Row> = {
  /** Undefined until the first page is there. */
  rows: Row[] | undefined
  error: unknown
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  reload: () => void
}

type Asked<Row> = {
  queryKey: QueryKey
  part: (cursor: string | undefined) => Promise<ListPart<Row>>
  /** How often it is read again, in ms. */
  refetchInterval?: number
}

/** Reads a list of the API page by page. */
export function useList<Row>({ queryKey, part, refetchInterval }: Asked<Row>): List<Row> {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => part(pageParam ?? undefined),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }: ListPart<Row>) => next,
    ...(refetchInterval !== undefined && { refetchInterval }),
  })
  return {
    rows: data?.pages.flatMap(({ rows }) => rows),
    error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => void fetchNextPage(),
    reload: () => void refetch(),
  }
}
