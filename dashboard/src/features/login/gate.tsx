import { type ReactNode, useEffect } from 'react'
import styles from './gate.module.css'

/** The frame of the pages before the login. */
export function Gate({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Parley`
  }, [title])
  return (
    <main className={styles.gate}>
      <div className={styles.card}>
        <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width={40} height={40} />
        <h1 className={styles.title}>{title}</h1>
        {children}
        <p className={styles.below}>
          <a href="/docs">Guides</a> · <a href="/swagger-ui">API</a>
        </p>
      </div>
    </main>
  )
}
