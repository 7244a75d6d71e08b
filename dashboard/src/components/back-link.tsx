import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'
import styles from './back-link.module.css'
import { Icon } from './icon.tsx'

function BackAnchor({ children, className: _class, ...props }: AnchorHTMLAttributes<HTMLAnchorElement>) {
  return (
    <a {...props} className={styles.back}>
      <Icon name="back" size={16} />
      {children}
    </a>
  )
}

/** Leads from a thing to the list that it stands in. */
export const BackLink = createLink(BackAnchor)
