import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

/** A title; in one with a `name`, somebody has chosen that, and it must not turn round what stands beside it. */
export type Title = string | { before?: string; name: string; after?: string }

type PageProps = {
  title: Title
  /** One sentence: what is seen here. */
  description?: ReactNode
  /** Above the title: the way back. */
  above?: ReactNode
  /** Buttons of the page. */
  actions?: ReactNode
  /** Its parts are shown from the top down as they are read, so that none that is seen already is moved by one above it. */
  isInOrder?: boolean
  children: ReactNode
}

/** The frame of every page: its title, also that of the window, what can be done, and what is there. */
export function Page({ title, description, above, actions, isInOrder = false, children }: PageProps) {
  const ofWindow = plain(title)
  useEffect(() => {
    document.title = `${ofWindow} · Parley`
  }, [ofWindow])
  return (
    <div className={`${styles.page} ${isInOrder ? styles.inOrder : ''}`}>
      <header className={styles.head}>
        <div className={styles.words}>
          {above}
          <h1 className={styles.title}>{typeof title === 'string' ? title : <Named {...title} />}</h1>
          {description && <div className={styles.description}>{description}</div>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

function Named({ before, name, after }: Exclude<Title, string>) {
  return (
    <>
      {before}
      <bdi>{name}</bdi>
      {after}
    </>
  )
}

/** Signs that are not seen, and turn what follows them. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The title of a window has no marks in it. */
function plain(title: Title): string {
  if (typeof title === 'string') return title
  const { before = '', name, after = '' } = title
  return before + name.replaceAll(TURNING, '') + after
}
