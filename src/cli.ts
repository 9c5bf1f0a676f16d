#!/usr/bin/env node
// @ts-nocheck Node 20 must be able to load this file, so it is untyped CommonJS; package.json has no "type" (ADR 0001).
// The launcher is a .cjs file of its own, because it starts itself again: that process then has no types to strip.
'use strict'
require('../bin/livehouse.cjs')
