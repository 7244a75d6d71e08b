import { Button, type CSSVariablesResolver, createTheme, Input, type MantineColorsTuple } from '@mantine/core'
import styles from './button.module.css'

/** From pale to deep; 8 carries white text, 3 is read on dark. */
const GREEN: MantineColorsTuple = [
  ...(['#ecf7f3', '#dcefe8', '#b5dfd0', '#5fd0b0', '#3fb795'] as const),
  ...(['#239a79', '#14816a', '#0f7560', '#0b6b57', '#075243'] as const),
]

/** From letters to the deepest ground, as `tokens.css` has them in the dark. */
const DARK: MantineColorsTuple = [
  ...(['#e8ece9', '#c3ccc7', '#a3afa8', '#7d8a83', '#3a4640'] as const),
  ...(['#28312d', '#181f1c', '#111614', '#0d1210', '#080b0a'] as const),
]

/** The colours, letters and corners of everything that the library draws. */
export const theme = createTheme({
  colors: { green: GREEN, dark: DARK },
  primaryColor: 'green',
  primaryShade: { light: 8, dark: 7 },
  defaultRadius: 'md',
  fontFamily: "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: Button.extend({ classNames: { root: styles.button, label: styles.words } }),
    // A hint below its field: fields that stand beside each other are in line, those with a hint and those without.
    InputWrapper: Input.Wrapper.extend({
      defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] },
    }),
  },
})

const NAMES = {
  '--mantine-color-body': 'var(--paper)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--soft)',
  '--mantine-color-placeholder': 'var(--soft)',
  '--mantine-color-default': 'var(--panel)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-disabled': 'var(--quiet-soft)',
  '--mantine-color-disabled-color': 'var(--soft)',
  '--mantine-color-disabled-border': 'var(--line)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-anchor': 'var(--accent)',
}

/** What the library calls by its own names is what `tokens.css` says, which knows light from dark by itself. */
export const colours: CSSVariablesResolver = () => ({ variables: {}, light: NAMES, dark: NAMES })
