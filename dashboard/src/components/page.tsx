import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

type PageProps = {
  title: string
  /** One sentence: what is seen here. */
  description?: ReactNode
  /** Above the title: the way back. */
  above?: ReactNode
  /** Buttons of the page. */
  actions?: ReactNode
  children: ReactNode
}

/** The frame of every page: its title, also that of the window, what can be done, and what is there. */
export function Page({ title, description, above, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Parley`
  }, [title])
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.words}>
          {above}
          <h1 className={styles.title}>{title}</h1>
          {description && <div className={styles.description}>{description}</div>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}
