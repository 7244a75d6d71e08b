import {
  hashKey,
  type InfiniteData,
  type QueryKey,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { begunAnew } from './list-beginning.ts'
import type { ListPart } from './list-part.ts'

/** A list as far as it was asked for. */
export type List<Row> = {
  /** Undefined until the first page is there. */
  rows: Row[] | undefined
  /** Which list it is: with another filter it is another one. */
  of: string
  error: unknown
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  reload: () => void
}

type Asked<Row> = {
  queryKey: QueryKey
  part: (cursor: string | undefined) => Promise<ListPart<Row>>
  /** Of a list that is read again by itself: how often, in ms, and what tells its rows apart. */
  refresh?: { everyMs: number; keyOf: (row: Row) => string } | false
}

type Parts<Row> = InfiniteData<ListPart<Row>, string | null>

/** Of a longer list only the beginning is read again by itself: thousands of rows would be asked for, part by part. */
const FEW_ROWS = 500

/** Reads a list of the API page by page. */
export function useList<Row>(asked: Asked<Row>): List<Row> {
  const { queryKey, part, refresh } = asked
  const { data, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey,
      queryFn: ({ pageParam }) => part(pageParam ?? undefined),
      initialPageParam: null as string | null,
      getNextPageParam: ({ next }: ListPart<Row>) => next,
      refetchOnMount: ({ state }) => isShort(state.data) || state.isInvalidated,
      refetchOnWindowFocus: ({ state }) => isShort(state.data),
      refetchOnReconnect: ({ state }) => isShort(state.data),
      refetchInterval: ({ state }) => refresh && isShort(state.data) && refresh.everyMs,
    })
  useBeginning(asked, !isShort(data))
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage])
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows), [data])
  return {
    rows,
    of: hashKey(queryKey),
    error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore,
    // What was there stays, and what failed is tried again.
    reload: isFetchNextPageError ? loadMore : () => void refetch(),
  }
}

function isShort<Row>(data: Pick<Parts<Row>, 'pages'> | undefined): boolean {
  return (data?.pages.reduce((count, { rows }) => count + rows.length, 0) ?? 0) <= FEW_ROWS
}

/** Keeps the beginning of a long list as it is now. What it reads is put into the list itself. */
function useBeginning<Row>({ queryKey, part, refresh }: Asked<Row>, isLong: boolean): void {
  const client = useQueryClient()
  useQuery({
    queryKey: [...queryKey, 'beginning'],
    queryFn: async () => {
      const known = client.getQueryData<Parts<Row>>(queryKey)
      if (!known || !refresh) return null
      const pages = await begunAnew(known.pages, { part, keyOf: refresh.keyOf })
      const pageParams = pages.map((_page, at) => pages[at - 1]?.next ?? null)
      // More of it may have been read meanwhile: then the next look will do.
      if (client.getQueryData(queryKey) === known) client.setQueryData<Parts<Row>>(queryKey, { pages, pageParams })
      return null
    },
    enabled: isLong && refresh !== undefined && refresh !== false,
    refetchInterval: refresh ? refresh.everyMs : false,
  })
}
