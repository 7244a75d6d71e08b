import fc from 'fast-check'
import { IS_FULL } from './looks.ts'

/**
 * A setup file of every test run: which values are chosen where a test tries many. What every change must pass tries the same ones each time,
 * so that what fails is what was changed; a run of everything tries others, so that more and more of them have been tried.
 */
if (!IS_FULL) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 })
