import { useLocation } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'

type Search = Record<string, unknown>

const LooksContext = createContext<Map<string, Search>>(new Map())

/** Around all pages of somebody: keeps what each of them was asked for when it was looked at last, until the page is loaded anew. */
export function LastLooks({ children }: { children: ReactNode }) {
  const [looks] = useState(() => new Map<string, Search>())
  const { pathname, search } = useLocation()
  useEffect(() => {
    looks.set(pathname, search)
  }, [looks, pathname, search])
  return <LooksContext value={looks}>{children}</LooksContext>
}

/** What the page at a path was asked for when it was looked at last; undefined where it was not. */
export function useLastLook(pathname: string): Search | undefined {
  return useContext(LooksContext).get(pathname)
}
